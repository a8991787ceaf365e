export { acceptAll, acceptWaiting } from './accept-all.ts';
export { type BodySink, BodyStream, EMPTY } from './body-stream.ts';
export { ByteBuffer } from './byte-buffer.ts';
export type { ClientConnection } from './client-connection.ts';
export { ClientError } from './client-error.ts';
export type {
  ClientRequest,
  ClientResponse,
  ResponseReceiver,
  StreamedBody,
  Tunnel,
} from './client-request.ts';
export { createFairQueue, type QueueOwner, type Turn } from './fair-queue.ts';
export {
  type CheckedLines,
  checkedLines,
  checkedValue,
  FieldLines,
  prepareRead,
  VALUE,
} from './field-lines.ts';
export { type Fields, listed } from './fields.ts';
export { RequestHeads } from './heads.ts';
export { type ListeningSocket, socketOf } from './internals.ts';
export { oneByte } from './one-byte.ts';
export type { CallConnection, Occupant, Place } from './place.ts';
export {
  createPool,
  type OpenerOptions,
  openerTo,
  type Pool,
  type PoolLimits,
} from './pool.ts';
export { PoolBusy, type Waiter } from './pool-busy.ts';
export { createServer, type Server, type ServerOptions } from './server.ts';
export { type CallTransport, ServerCall } from './server-call.ts';
export type { BrokenReply } from './server-connection.ts';
export type { HandshakeFailure } from './tls-server.ts';
export { WEBSOCKET_KEY } from './websocket.ts';
export { WireError } from './wire-error.ts';
