"""Goal: the asyncio front does what the blocking client does, without blocking the loop. Method: a
real server with the engine that sleeps and fails on command.
"""

import asyncio
import unittest

import shortq
from servers import FakeServer, Server, under_way, wait_until
from shortq._wire import Kind


class AioTest(unittest.IsolatedAsyncioTestCase):
    server: Server
    watcher: shortq.Client

    @classmethod
    def setUpClass(cls) -> None:
        cls.server = cls.enterClassContext(Server(engine="test"))
        cls.watcher = cls.enterClassContext(cls.server.connect())

    async def asyncSetUp(self) -> None:
        self.client = await self.enterAsyncContext(await shortq.aio.connect(port=self.server.port))

    async def nothing_under_way(self) -> None:
        await asyncio.to_thread(wait_until, lambda: under_way(self.watcher) == [])

    async def running(self, count: int) -> None:
        def is_so() -> bool:
            return sum(state == "running" for _, state in under_way(self.watcher)) == count

        await asyncio.to_thread(wait_until, is_so)

    async def test_two_hundred_in_flight(self) -> None:
        calls = [self.client.deferred(f"echo {i}") for i in range(200)]
        tables = await asyncio.gather(*calls)
        self.assertEqual([table.scalar() for table in tables], [str(i) for i in range(200)])
        self.assertEqual({table.facts.worker for table in tables}, {1, 2})

    async def test_sync_and_errors(self) -> None:
        self.assertEqual((await self.client.sync("select 42")).scalar(), 42)
        with self.assertRaises(shortq.QueryError):
            await self.client.deferred("fail")
        with self.assertRaises(shortq.RequestTimeout):
            await self.client.deferred("sleep 600000", timeout=0.05)

    async def test_the_loop_goes_on_meanwhile(self) -> None:
        task = asyncio.create_task(self.client.deferred("sleep 600000"))
        await self.running(1)
        self.assertEqual((await self.client.deferred("echo beside it")).scalar(), "beside it")
        self.assertFalse(task.done())
        task.cancel()
        await self.nothing_under_way()

    async def test_a_cancelled_task_stops_its_query(self) -> None:
        task = asyncio.create_task(self.client.deferred("sleep 600000"))
        await self.running(1)
        task.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await task
        await self.nothing_under_way()

    async def test_wait_for_stops_its_query(self) -> None:
        with self.assertRaises(asyncio.TimeoutError):
            await asyncio.wait_for(self.client.deferred("sleep 600000"), 0.05)
        await self.nothing_under_way()

    async def test_progress_comes_on_the_loop(self) -> None:
        told: list[tuple[shortq.Progress, asyncio.AbstractEventLoop]] = []

        def tell(progress: shortq.Progress) -> None:
            told.append((progress, asyncio.get_running_loop()))

        await self.client.deferred("rows 500000", progress=tell)
        await asyncio.sleep(0)
        self.assertEqual(
            told[-1],
            (
                shortq.Progress(told[-1][0].fraction, 500_000, told[-1][0].bytes),
                asyncio.get_running_loop(),
            ),
        )

    async def test_streaming(self) -> None:
        found = 0
        async with self.client.stream("rows 1000000") as pieces:
            async for table in pieces:
                self.assertEqual(table.columns[0][0], found)
                found += len(table)
        self.assertEqual(found, 1_000_000)
        async with self.client.stream("rows 1000000000") as pieces:
            await pieces.__anext__()
        await self.nothing_under_way()
        async for _ in self.client.stream("rows 1000000000"):
            break
        await self.nothing_under_way()
        with self.assertRaises(shortq.QueryError):
            async for _ in self.client.stream("fail"):
                pass

    async def test_a_connect_that_is_cancelled_leaves_nothing(self) -> None:
        with FakeServer() as fake:
            connecting = asyncio.create_task(shortq.aio.connect(port=fake.port))
            await asyncio.to_thread(fake.hear, Kind.HELLO)
            connecting.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await connecting
            fake.say(int(Kind.WELCOME), 1, 5, 2, 1, 1000, 0, 100, 200, "fake/1")
            await asyncio.to_thread(fake.hear, Kind.GOODBYE)


if __name__ == "__main__":
    unittest.main()
