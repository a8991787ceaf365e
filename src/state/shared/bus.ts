/** One change that a gateway made and every gateway hears of. */
export type Message =
  /** Counters or conduct of a subject; `banned`: the change was a ban. */
  | { readonly type: 'subject'; readonly subject: string; readonly banned: boolean }
  /** The key whose secret has this hash. */
  | { readonly type: 'key'; readonly hash: string }
  /** Messages may have been lost: whoever keeps copies drops them all. */
  | { readonly type: 'anything' };

/** Where gateways that share a backend hear of each other's changes, and of their own. */
export interface Bus {
  /** Returns a function that ends the listening. */
  listen(listener: (message: Message) => void): () => void;
  /** Whether every message arrives now, as far as is known. */
  readonly isLive: boolean;
}
