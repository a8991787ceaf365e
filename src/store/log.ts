/** The events of the store: they have paths without their query, and never headers or bodies. */
export type StoreEvent =
  | { readonly type: 'listening'; readonly url: string }
  | {
      readonly type: 'answered';
      readonly method: string;
      readonly path: string;
      readonly status: number;
      readonly milliseconds: number;
    }
  /** The caller left before its request was complete. */
  | { readonly type: 'left'; readonly method: string; readonly path: string }
  /** A bug or an exhausted resource; the caller got a 500 without detail. */
  | { readonly type: 'failed'; readonly method: string; readonly path: string; readonly error: unknown }
  | { readonly type: 'closed' };

export type StoreLog = (event: StoreEvent) => void;
