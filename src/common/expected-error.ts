/**
 * Not a bug: the operator can correct its cause. The message is complete, so the stack is not
 * shown.
 */
export abstract class ExpectedError extends Error {
  override readonly name: string = this.constructor.name;
}

/**
 * Also matches the contract package's error by name, because commands start without loading that
 * package.
 */
export const isExpected = (error: unknown): error is Error =>
  error instanceof ExpectedError ||
  (error instanceof Error && error.name === 'ContractError');
