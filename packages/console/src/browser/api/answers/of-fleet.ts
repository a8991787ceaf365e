/** What an answer lacks of other gateways: their names, and why none could be asked. */
export interface OfFleet {
  readonly silent: readonly string[];
  readonly apart: string | null;
}
