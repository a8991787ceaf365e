/** `GET /webhooks`. */
export interface Receivers {
  readonly endpoints: readonly Receiver[];
}

export interface Receiver {
  readonly id: string;
  readonly host: string;
  readonly events: readonly string[];
  readonly standing: 'new' | 'well' | 'failing' | 'gone';
  readonly waiting: number;
  readonly failingSince: string | null;
  readonly error: string | null;
  readonly delivered: string | null;
  readonly lost: number;
}
