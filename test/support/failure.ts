const HELPERS = /^ +at .*\/test\/support\/.*\n?/gm;

/** An error whose location is the line of the test that called a helper. */
export function failure(message: string): Error {
  const error = new Error(message);
  error.stack = error.stack!.replace(HELPERS, '');
  return error;
}

/** Fails unless the response is successful. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into whatever was answered.
export function bodyOf<B = any>({
  status,
  body,
}: {
  readonly status: number;
  readonly body: B;
}): B {
  if (status >= 200 && status < 300) return body;
  throw failure(`answered ${status}: ${JSON.stringify(body)}`);
}

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Fails with the output of the command unless it succeeded. */
export function jsonOf({ code, out, err }: Ended) {
  if (code === 0) return JSON.parse(out);
  throw failure(`ended with ${code}: ${out}${err}`);
}
