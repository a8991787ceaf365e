/** One thing that is wrong with a request or an answer. It names what the contract says, never a value that was sent. */
export interface Fault {
  readonly in: 'path' | 'query' | 'header' | 'cookie' | 'body';
  /** JSON pointer (RFC 6901); for a parameter `/<name>` and deeper. */
  readonly pointer: string;
  readonly message: string;
}
