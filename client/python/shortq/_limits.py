"""Every named maximum of the wire format that a client meets (PROTOCOL.md#limits)."""

VERSION_MIN = 1
VERSION_MAX = 1

HEADER_BYTES_MAX = 1024
SERVICE_BYTES_MAX = 255
AGENT_BYTES_MAX = 128
USER_BYTES_MAX = 128
PASSWORD_BYTES_MAX = 255  # A body of the hello.
ERROR_TEXT_BYTES_MAX = 1 << 20
PARAMETERS_MAX = 4096
PARAMETER_NAME_BYTES_MAX = 255
FIELDS_MAX = 65536  # Of a schema, nested ones and metadata entries included.
SCHEMA_DEPTH_MAX = 64
SCHEMA_BYTES_MAX = 16 << 20
LAYOUT_BYTES_MAX = 16 << 20
BUFFERS_PER_BATCH_MAX = 1 << 20
ROWS_PER_BATCH_MAX = 1 << 24
NODE_LENGTH_MAX = 1 << 40
BATCHES_PER_REPLY_MAX = 1024
CREDIT_STEP_BYTES = 1 << 20  # A credit is sent each time so much more was taken.

U8_MAX = (1 << 8) - 1
U16_MAX = (1 << 16) - 1
U32_MAX = (1 << 32) - 1
U64_MAX = (1 << 64) - 1
