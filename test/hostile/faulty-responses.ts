/** None of them may be forwarded. One character per byte. */
export const FAULTY_RESPONSES: readonly (readonly [what: string, bytes: string])[] = [
  ['garbage', 'SSH-2.0-nonsense\r\n\r\n'],
  ['nothing', ''],
  ['half a head', 'HTTP/1.1 200 OK\r\nContent-Ty'],
  ['two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 5\r\n\r\n[]'],
  [
    'a length beside chunks',
    'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n[]\r\n0\r\n\r\n',
  ],
  [
    'a head of 100 KB',
    `HTTP/1.1 200 OK\r\nX-A: ${'a'.repeat(100_000)}\r\nContent-Length: 2\r\n\r\n[]`,
  ],
  [
    'a control character in a header',
    'HTTP/1.1 200 OK\r\nX-A: a\x01b\r\nContent-Length: 2\r\n\r\n[]',
  ],
  [
    'an unrequested switch of protocols',
    'HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n',
  ],
  ['100 and no more', 'HTTP/1.1 100 Continue\r\n\r\n'],
];

/** Their bodies never end. */
export const TRUNCATED_RESPONSES: readonly (readonly [what: string, head: string])[] = [
  ['of known length', 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n[1,'],
  ['in chunks', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n[1,\r\n'],
  ['in a chunk', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n30\r\n[1,'],
];
