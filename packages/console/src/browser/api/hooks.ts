import type {
  InputOf,
  OperationId,
  ParamsOf,
  ResponseOf,
} from '@storegate/admin-api';
import {
  useCallback,
  useEffect,
  useMemo,
  useRef,
  useState,
} from 'preact/hooks';
import { ApiError, call } from './client.ts';

/** Milliseconds until the next attempt, if the gateway or the state was down. */
const AGAIN = 5_000;

/** What a view knows of a response of the admin API. */
export interface Query<T> {
  /**
   * The last one; it stays while a newer one is asked for, and when that fails. `null`: none came
   * yet.
   */
  readonly value: T | null;
  /** Why the newest could not be had. */
  readonly error: ApiError | null;
  /** Since when it cannot be had, RFC 3339. */
  readonly since: string | null;
  readonly loading: boolean;
  /** Asks again; resolves when the response is there. */
  readonly refresh: () => Promise<void>;
}

type State = Omit<Query<unknown>, 'refresh'> & { readonly of: string };
const NOTHING = {
  value: null,
  error: null,
  since: null,
  loading: true,
} as const;

interface Polling<Id extends OperationId> {
  /**
   * Milliseconds after which to ask again, while the page can be seen; `null`: never. By default
   * only after an outage.
   */
  readonly every?: number | null | undefined;
  /** Further parameters, which ask only for what is new since the last response. */
  readonly onward?: (last: ResponseOf<Id>) => ParamsOf<Id>;
}

/**
 * Calls an operation that reads, again when its parameters change. Late responses to what is not
 * asked any more are dropped.
 */
export function useQuery<Id extends OperationId>(
  id: Id,
  ...[input]: InputOf<Id, Polling<Id>>
): Query<ResponseOf<Id>> {
  const { every, onward, ...sent }: Polling<Id> & { params?: object } =
    input ?? {};
  const request = JSON.stringify([id, sent]);
  const [state, setState] = useState<State>({ of: request, ...NOTHING });
  const running = useRef<AbortController | null>(null);
  const last = useRef<ResponseOf<Id> | null>(null);

  const refresh = useCallback(async () => {
    running.current?.abort();
    const aborting = new AbortController();
    running.current = aborting;
    setState((before) =>
      before.of === request
        ? { ...before, loading: true }
        : { of: request, ...NOTHING },
    );
    try {
      const more = last.current && onward?.(last.current);
      const params = { ...sent.params, ...more };
      const args = [
        { ...sent, params, signal: aborting.signal },
      ] as unknown as InputOf<Id>;
      const value = await call(id, ...args);
      last.current = value;
      setState({
        of: request,
        value,
        error: null,
        since: null,
        loading: false,
      });
    } catch (error) {
      if (aborting.signal.aborted) return;
      if (!(error instanceof ApiError)) throw error;
      const now = new Date().toISOString();
      setState(({ since, ...before }) => ({
        ...before,
        error,
        since: since ?? now,
        loading: false,
      }));
    } finally {
      if (running.current === aborting) running.current = null;
    }
  }, [request]);

  useEffect(() => {
    last.current = null;
    void refresh();
    return () => running.current?.abort();
  }, [refresh]);

  const isDown =
    asOf(state.value) !== null ||
    state.error?.status === 0 ||
    state.error?.status === 503;
  const each = every === undefined ? (isDown ? AGAIN : null) : every;
  useEffect(() => {
    if (each === null) return;
    const look = () => {
      // Waits for a response that takes longer than this: repeated questions would never get one.
      if (document.visibilityState === 'visible' && running.current === null)
        void refresh();
    };
    const timer = setInterval(look, each);
    document.addEventListener('visibilitychange', look);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', look);
    };
  }, [refresh, each]);

  const { value, ...rest } = state.of === request ? state : NOTHING;
  return { value: value as ResponseOf<Id> | null, ...rest, refresh };
}

/**
 * The time of what the gateway knew, in a response that it sent without the state; `null`: the state
 * responded.
 */
export function asOf(value: unknown): string | null {
  return (value as { asOf?: string } | null)?.asOf ?? null;
}

/**
 * Asks again when `what` becomes another: for a response that changes only together with something
 * that is looked at more often.
 */
export function useRefreshWith(
  { refresh }: Pick<Query<unknown>, 'refresh'>,
  what: string | null,
): void {
  const before = useRef(what);
  useEffect(() => {
    if (what === null || what === before.current) return;
    if (before.current !== null) void refresh();
    before.current = what;
  }, [what, refresh]);
}

/**
 * The time some hours before now, for a query; empty without hours. It stays, because a time that
 * moves would be another question with each look.
 */
export function useHoursAgo(hours: string): string {
  return useMemo(
    () =>
      Number(hours) > 0
        ? new Date(Date.now() - Number(hours) * 3_600_000).toISOString()
        : '',
    [hours],
  );
}

/** The begin of the hour a day ago: usage is summed up by hours of UTC. */
export const useDayAgo = (): string =>
  `${useHoursAgo('24').slice(0, 13)}:00:00Z`;

/** For a choice: APIs with requests in a period, and the chosen one; `null`: nothing to choose. */
export function useApis(api: string, period: { from: string; to?: string }) {
  const params = { ...period, by: 'api', partial: true };
  const { value } = useQuery('getUsageReport', { params });
  const used = value?.rows.flatMap((row) => row.api ?? []) ?? [];
  const names = [...new Set([...used, ...(api ? [api] : [])])].sort();
  const options = ['', ...names].map((name) => [name, name || 'all'] as const);
  return names.length > 0 ? options : null;
}

/**
 * Runs calls of one form or button. `error`: why the last one failed; the promise has whether it
 * succeeded.
 */
export function useCall() {
  const [error, setError] = useState<ApiError | null>(null);
  const [busy, setBusy] = useState(false);

  async function run(work: () => Promise<void>): Promise<boolean> {
    setBusy(true);
    setError(null);
    try {
      await work();
      return true;
    } catch (failure) {
      if (!(failure instanceof ApiError)) throw failure;
      setError(failure);
      return false;
    } finally {
      setBusy(false);
    }
  }

  return { error, busy, run };
}
