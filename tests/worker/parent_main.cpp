// A primary that can be killed: starts one worker, prints its pid when it serves, waits for ever.

#include <unistd.h>

#include <iostream>

#include "tests/worker/fake_primary.h"

int main() {
    shortq::test::FakePrimary primary;
    primary.start();
    primary.welcome_until_ready();
    std::cout << primary.worker().pid() << std::endl;
    for (;;) ::pause();
}
