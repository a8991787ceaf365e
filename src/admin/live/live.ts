import { setTimeout } from 'node:timers/promises';
import type { LiveNow, LiveRefused, PeerCoverage } from '@storegate/admin-api';
import { SECOND } from '../../common/time.ts';
import {
  backendsOfAll,
  sumOfConnections,
} from '../../observe/peers/backends.ts';
import {
  type LiveAnswer,
  live,
  MOST_FOLLOWED,
} from '../../observe/peers/live.ts';
import { ask, type PeerAnswers } from '../../observe/peers/peers.ts';
import {
  type FilterWords,
  fits,
  newestOf,
} from '../../observe/peers/requests.ts';
import {
  classesIn,
  requestsIn,
  verdictsIn,
} from '../../observe/traffic/row.ts';
import { AdminError } from '../admin-error.ts';
import type { Listener } from '../call.ts';
import type { AdminContext } from '../context.ts';
import { listView } from '../operations/requests.ts';
import {
  backendView,
  latencyOf,
  rounded,
  shownConnections,
  time,
} from '../view.ts';
import { type Counted, Counting } from './counting.ts';

const TICK = 2 * SECOND;
const MOST_LISTENERS = MOST_FOLLOWED;
const MOST_REPORTED = 50;
/** Missed ticks in a row until a listener is disconnected. */
const MOST_MISSED = 15;

export interface LiveQuery {
  readonly now: boolean;
  /** `null`: no refusals. */
  readonly refused: FilterWords | null;
}

type PeerReading = PeerAnswers<LiveAnswer>['answers'][number];

interface Following {
  readonly wanted: LiveQuery;
  readonly listener: Listener;
  /** Dropped, because the listener was slow. */
  left: number;
  missed: number;
}

/** Polls all gateways while there are listeners, once for all of them. */
export class Live {
  readonly #context: Pick<AdminContext, 'peers'>;
  readonly #followings = new Set<Following>();
  #counting = new Counting();
  readonly #closing = new AbortController();
  readonly #tickLength: number;
  #last: LiveNow | null = null;
  #runs = false;

  constructor(context: Pick<AdminContext, 'peers'>, tick = TICK) {
    this.#context = context;
    this.#tickLength = tick;
  }

  /**
   * As Follow. Sends nothing before it returns; the first event repeats the last tick, if there is
   * one.
   */
  follow(wanted: LiveQuery, listener: Listener): () => void {
    this.#context.peers();
    if (this.#followings.size >= MOST_LISTENERS) {
      throw new AdminError(
        'too_many_listeners',
        `${MOST_LISTENERS} listen already: end one, or try again later.`,
      );
    }
    if (this.#closing.signal.aborted)
      throw new AdminError('state_unavailable', 'The gateway stops.');
    const following: Following = { wanted, listener, left: 0, missed: 0 };
    this.#followings.add(following);
    if (!this.#runs) void this.#run();
    else if (this.#last !== null && wanted.now)
      queueMicrotask(
        () =>
          this.#followings.has(following) && listener.send('now', this.#last),
      );
    return () => void this.#followings.delete(following);
  }

  close(): void {
    this.#closing.abort();
    for (const { listener } of this.#followings) listener.end();
    this.#followings.clear();
  }

  async #run(): Promise<void> {
    this.#runs = true;
    try {
      for (let next = performance.now(); this.#followings.size > 0; ) {
        await this.#tick();
        next = Math.max(next + this.#tickLength, performance.now());
        const wait = Math.max(0, next - performance.now());
        await setTimeout(wait, undefined, {
          ref: false,
          signal: this.#closing.signal,
        }).catch(() => {});
      }
    } catch (error) {
      for (const { listener } of this.#followings) listener.end(error);
      this.#followings.clear();
    }
    this.#runs = false;
    this.#counting = new Counting();
    this.#last = null;
  }

  async #tick(): Promise<void> {
    const followings = [...this.#followings];
    const words = followings.flatMap(({ wanted }) =>
      wanted.refused === null ? [] : [JSON.stringify(wanted.refused)],
    );
    const distinct = [...new Set(words)];
    const followed = distinct.map((text) => JSON.parse(text) as FilterWords);
    const at = performance.now();
    const question = { followed, after: this.#counting.after };
    const { answers, unresponsive, isolated } = await ask(
      this.#context.peers(),
      live,
      question,
    );
    const missing = { unresponsive, isolated };
    const processes = answers.map(({ answer }) => answer.processes);
    this.#last = nowView(
      Date.now(),
      answers,
      this.#counting.count(processes, at),
      missing,
    );
    for (const following of followings) {
      if (!this.#followings.has(following)) continue;
      const { refused } = following.wanted;
      this.#send(
        following,
        answers,
        refused === null ? -1 : distinct.indexOf(JSON.stringify(refused)),
        missing,
      );
    }
  }

  /** `place`: the index of its filter in the query. */
  #send(
    following: Following,
    answers: readonly PeerReading[],
    place: number,
    missing: PeerCoverage,
  ): void {
    const { wanted, listener } = following;
    let reads = !wanted.now || listener.send('now', this.#last);
    if (wanted.refused !== null) {
      const lists = answers.map(({ gateway, answer: { refusals } }) =>
        refusals.requests
          .filter((one) => fits(one, wanted.refused!))
          .map((one) => ({ gateway, ...one })),
      );
      const reported = newestOf(lists, MOST_REPORTED);
      const all =
        following.left +
        answers.reduce(
          (sum, { answer }) => sum + answer.refusals.fitting[place]!,
          0,
        );
      if (all > 0) {
        const left = all - reported.length;
        reads &&= listener.send('refused', {
          requests: reported.map(listView),
          omitted: left,
          ...missing,
        } satisfies LiveRefused);
        following.left = reads ? 0 : all;
      }
    }
    following.missed = reads ? 0 : following.missed + 1;
    if (following.missed < MOST_MISSED) return;
    this.#followings.delete(following);
    listener.end();
  }
}

/** `at`: Unix milliseconds. */
function nowView(
  at: number,
  readings: readonly PeerReading[],
  { span, row, rows, lately }: Counted,
  missing: PeerCoverage,
): LiveNow {
  return {
    at: time(at),
    span: Math.round(span),
    requests: requestsIn(row),
    ...verdictsIn(row),
    classes: classesIn(row),
    latency: { span: Math.round(lately.span), ...latencyOf(lately.row) },
    inFlight: readings.reduce((sum, { answer }) => sum + inFlight(answer), 0),
    gateways: readings.map(({ gateway, answer }, i) => ({
      gateway,
      readiness: answer.readiness,
      state: answer.state,
      localSince: time(best(Math.min, answer, 'localSince')),
      stateMs: rounded(best(Math.max, answer, 'stateTime')),
      workers: answer.workers,
      processes: answer.processes.length,
      inFlight: inFlight(answer),
      requests: requestsIn(rows[i]!),
      backend: shownConnections(
        sumOfConnections(answer.processes.map(({ status }) => status.backend)),
      ),
    })),
    backends: backendsOfAll(
      readings.map(({ gateway, answer: { processes } }) => ({
        gateway,
        processes: processes.map(({ status }) => status),
      })),
    ).map(backendView),
    ...missing,
  };
}

const inFlight = ({ processes }: LiveAnswer) =>
  processes.reduce((sum, { status }) => sum + status.inFlight, 0);

/** Of the processes; `null`: none is known. */
function best(
  choose: typeof Math.max,
  { processes }: LiveAnswer,
  name: 'localSince' | 'stateTime',
): number | null {
  const known = processes
    .map(({ status }) => status[name])
    .filter((value) => value !== null);
  return known.length === 0 ? null : choose(...known);
}
