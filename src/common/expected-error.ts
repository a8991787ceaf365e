/**
 * An error that is no bug: whoever runs the gateway or a command can correct its cause. The message tells them everything, so
 * nothing shows the stack.
 */
export abstract class ExpectedError extends Error {
  abstract override readonly name: string;
}
