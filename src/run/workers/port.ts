import { setTimeout as pause } from 'node:timers/promises';
import { httpFetch } from '../../common/http-fetch.ts';
import { ListenError } from '../../common/listen.ts';
import type { Serving } from '../serving.ts';

type Listening = Pick<Serving, 'listen'>;

/** Milliseconds. */
const FREEING = 1_000;
const AGAIN = 10;
/** Milliseconds. */
const ASKING = 200;

/**
 * Workers of a killed primary process may still hold the address; then this one listens beside
 * them. Rejects with ListenError.
 */
export async function listenInTurn(
  serving: Listening,
  fd?: number,
): Promise<string> {
  try {
    return await serving.listen({ fd });
  } catch (error) {
    if (!(error instanceof ListenError && error.taken)) throw error;
    return await serving.listen({ beside: true });
  }
}

/**
 * Resolves with whether this worker listens: other processes may hold the address, and not every
 * system allows sharing.
 */
export async function takeOver(serving: Listening): Promise<boolean> {
  const deadline = performance.now() + FREEING;
  for (;;) {
    try {
      await serving.listen({ beside: true });
      return true;
    } catch (error) {
      if (!(error instanceof ListenError)) throw error;
      if (!error.taken || performance.now() > deadline) return false;
    }
    await pause(AGAIN);
  }
}

/** `patience` in milliseconds; `certificates` in PEM. */
export async function untilReady(
  adminUrl: string,
  patience: number,
  certificates: readonly string[] = [],
): Promise<void> {
  const deadline = performance.now() + patience;
  while (
    performance.now() < deadline &&
    !(await isReady(adminUrl, certificates))
  )
    await pause(ASKING);
}

async function isReady(
  adminUrl: string,
  certificates: readonly string[],
): Promise<boolean> {
  const [address, signal] = [
    `${adminUrl}/health/ready`,
    AbortSignal.timeout(5 * ASKING),
  ];
  const response =
    certificates.length === 0
      ? fetch(address, { signal })
      : httpFetch(address, { tls: { known: certificates } }, { signal });
  const status = await response.then(
    (response) => response.status,
    () => 0,
  );
  return status === 200;
}
