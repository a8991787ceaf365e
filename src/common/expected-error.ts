/**
 * An error that is no bug: whoever runs the gateway or a command can correct its cause. The message tells them everything, so
 * nothing shows the stack.
 */
export abstract class ExpectedError extends Error {
  abstract override readonly name: string;
}

/** Also the error of a contract, whose package does not know the class above: by its name, because commands start without the package. */
export const isExpected = (error: unknown): error is Error =>
  error instanceof ExpectedError || (error instanceof Error && error.name === 'ContractError');
