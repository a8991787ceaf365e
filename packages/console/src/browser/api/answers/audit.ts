/** `GET /audit`: a page of the audit log, newest first. */
export interface Audit {
  readonly entries: readonly Entry[];
  /** `below` of the next page; `null` on the last. */
  readonly next: number | null;
}

export interface Entry {
  readonly number: number;
  readonly at: string;
  readonly actor: string;
  readonly action: string;
  readonly target: string;
  /** Why, as who did it said. Older gateways do not tell it. */
  readonly reason?: string | null;
  readonly before: Readonly<Record<string, unknown>> | null;
  readonly after: Readonly<Record<string, unknown>> | null;
  readonly requestId: string;
}
