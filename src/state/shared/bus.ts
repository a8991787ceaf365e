/** A change that every gateway receives. */
export type Message =
  /** `banned`: changed by a ban. */
  | { readonly type: 'subject'; readonly subject: string; readonly banned: boolean }
  | { readonly type: 'key'; readonly hash: string }
  /** Messages may have been lost: drop all copies. */
  | { readonly type: 'anything' };

/** Distributes changes among gateways that share a backend, including the sender. */
export interface Bus {
  listen(listener: (message: Message) => void): () => void;
  readonly isLive: boolean;
}
