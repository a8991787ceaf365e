export class PoolBusy extends Error {
  override name = 'PoolBusy';
  readonly isLate: boolean;

  constructor(isLate = false) {
    super();
    this.isLate = isLate;
  }
}

export interface Waiter {
  /** No further call follows. */
  waits(leave: () => void): void;
}
