import { randomUUID } from 'node:crypto';
import { Outage } from '../../common/errors/outage.ts';
import {
  ANNOUNCE_INTERVAL,
  noPeers,
  type PeerResponses,
  type Peers,
  type Self,
} from '../../observe/peers/peers.ts';
import { withDeadline } from '../shared/deadline.ts';
import type { Connection } from './client.ts';
import {
  GATEWAY_TTL,
  GATEWAYS_TTL,
  keyOf,
  PEER_MEMORY,
  QUESTIONS,
  responsesFor,
} from './key-names.ts';
import { checkShape, isInteger, isTextList } from './replies.ts';
import { loadScript } from './scripts.ts';
import { reasonText } from './shards.ts';
import type { Subscriber } from './subscriber.ts';
import { withTimeout } from './timeouts.ts';

const announceIn = loadScript('announce-1.lua');

/** Milliseconds. */
const LEAVE_TIMEOUT = 250;

/** Milliseconds, including both ways. */
const RESPONSE_TIMEOUT = 1_500;
/** Characters. Redis sends each message to every listener. */
const MAX_MESSAGE = 1_000_000;
/** Every client of Redis can send queries. Excess queries get no reply. */
const MAX_RESPONSES = 32;

interface PeersOptions {
  /** `null`: a command, which sends queries only. */
  readonly self: Self | null;
  readonly failed: (error: unknown) => void;
}

interface PeerQuestion {
  readonly from: string;
  readonly id: string;
  readonly question: string;
  readonly argument: unknown;
}

interface PeerResponse {
  readonly id: string;
  readonly gateway: string;
  readonly response: unknown;
}

interface PendingQuestion {
  readonly missing: Set<string>;
  readonly responses: PeerResponses<unknown>['responses'][number][];
  readonly complete: () => void;
}

/**
 * Queries gateways through Redis channels. Gateways announce themselves every few seconds, so
 * missing replies are detected.
 */
export function peersInRedis(
  redis: Connection,
  subscriber: Subscriber,
  { self, failed }: PeersOptions,
): Peers {
  const me = randomUUID();
  const waiting = new Map<string, PendingQuestion>();
  const gateways = self && joinGateways(redis, keyOf.peers, self.name);
  // A failed announcement is repeated soon.
  gateways?.announce().catch(() => {});
  let isClosed = false;
  let responding = 0;

  const subscription = subscriber.listen({
    channels: [responsesFor(me), ...(self ? [QUESTIONS] : [])],
    onMessage(text, channel) {
      if (isClosed) return;
      if (channel === QUESTIONS) void respond(readQuestion(text));
      else note(readPeerResponse(text));
    },
  });

  async function respond(asking: PeerQuestion | null) {
    if (
      self === null ||
      asking === null ||
      asking.from === me ||
      responding >= MAX_RESPONSES
    )
      return;
    const own = self.respond(asking.question, asking.argument);
    if (own === null) return;
    responding++;
    const text = await own
      .then((response) => responseText(self, asking, response))
      .catch(failed);
    // The asking gateway reports it as unresponsive.
    if (text)
      await withDeadline(
        redis.publish(responsesFor(asking.from), text),
        RESPONSE_TIMEOUT,
      ).catch(() => {});
    responding--;
  }

  function note(received: PeerResponse | null) {
    if (received === null) return;
    const { id, gateway, response } = received;
    const one = waiting.get(id);
    if (!one?.missing.delete(gateway)) return;
    one.responses.push({ gateway, response });
    if (one.missing.size === 0) one.complete();
  }

  async function queryPeers(
    question: string,
    argument: unknown,
  ): Promise<Omit<PeerResponses<unknown>, 'isolated'>> {
    await withDeadline(subscription.live(), RESPONSE_TIMEOUT);
    const { here, lost } = await others();
    const missing = new Set(here);
    const responses: PendingQuestion['responses'] = [];
    if (missing.size === 0) return { responses, unresponsive: [], lost };
    const id = randomUUID();
    const all = new Promise<void>(
      (complete) => void waiting.set(id, { missing, responses, complete }),
    );
    try {
      const text = JSON.stringify({
        from: me,
        id,
        question,
        argument,
      } satisfies PeerQuestion);
      await withTimeout(redis.publish(QUESTIONS, text), RESPONSE_TIMEOUT);
      // Missing gateways are reported as unresponsive.
      await withDeadline(all, RESPONSE_TIMEOUT).catch(() => {});
    } finally {
      waiting.delete(id);
    }
    return { responses, unresponsive: [...missing].sort(), lost };
  }

  /** Gateways of the last day: recent ones, and unresponsive ones without a clean stop. */
  async function others() {
    const list = await withTimeout(
      checkShape(
        redis,
        'the gateways',
        redis.zrange(keyOf.peers, '0', '-1', 'WITHSCORES'),
        isTextList,
      ),
      RESPONSE_TIMEOUT,
    );
    const received = list.flatMap((gateway, i) =>
      i % 2 === 0 ? [{ gateway, at: Number(list[i + 1]) }] : [],
    );
    // Times come from the clock of Redis; a running gateway keeps the newest recent.
    const newest = Math.max(...received.map(({ at }) => at));
    const rest = received.filter(({ gateway }) => gateway !== self?.name);
    const isHere = ({ at }: { at: number }) => at > newest - GATEWAY_TTL;
    return {
      here: rest.filter(isHere).map(({ gateway }) => gateway),
      lost: rest.filter((one) => !isHere(one)),
    };
  }

  return {
    async ask(question, argument) {
      const [own, theirs] = await Promise.all([
        self === null
          ? { responses: [] }
          : noPeers(self).ask(question, argument),
        queryPeers(question, argument).catch((error: unknown) => {
          const isolated = reasonText(
            redis,
            error instanceof Outage ? error.cause : error,
          );
          return { responses: [], unresponsive: [], lost: [], isolated };
        }),
      ]);
      return {
        isolated: null,
        ...theirs,
        responses: [...own.responses, ...theirs.responses],
      };
    },
    async forget(gateway) {
      await withTimeout(redis.zrem(keyOf.peers, gateway), RESPONSE_TIMEOUT);
    },
    async close() {
      isClosed = true;
      await gateways?.close();
    },
  };
}

function responseText(
  { name }: Self,
  { id, question }: PeerQuestion,
  response: unknown,
): string {
  const text = JSON.stringify({
    id,
    gateway: name,
    response,
  } satisfies PeerResponse);
  if (text.length > MAX_MESSAGE)
    throw new Error(
      `the response to ${question} has ${text.length} characters`,
    );
  return text;
}

/** Every client of Redis can send any text. */
function readQuestion(text: string): PeerQuestion | null {
  const { from, id, question, argument = null } = objectIn(text);
  if (typeof from !== 'string' || !/^[0-9a-f-]{36}$/.test(from)) return null;
  if (typeof id !== 'string' || id.length > 36 || typeof question !== 'string')
    return null;
  return { from, id, question, argument };
}

function readPeerResponse(text: string): PeerResponse | null {
  const { id, gateway, response = null } = objectIn(text);
  return typeof id === 'string' && typeof gateway === 'string'
    ? { id, gateway, response }
    : null;
}

function objectIn(text: string): Record<string, unknown> {
  if (text.length > MAX_MESSAGE) return {};
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}

/** Running gateways, or gateways that accept queries; these are kept for a day unless they stop. */
type List = typeof keyOf.gateways | typeof keyOf.peers;

/**
 * Registers this gateway every few seconds. `id` is unique among gateways. `known`: their last
 * known number.
 */
export function joinGateways(
  redis: Connection,
  list: List,
  id: string,
  lastCount = 1,
) {
  const lives =
    list === keyOf.peers
      ? [PEER_MEMORY, PEER_MEMORY]
      : [GATEWAY_TTL, GATEWAYS_TTL];
  let count = lastCount;
  async function announce() {
    count = await checkShape(
      redis,
      'announce',
      announceIn(redis, [list], [id, ...lives]),
      isInteger,
    );
  }
  // During an outage the last count is needed, so it remains.
  const timer = setInterval(
    () => announce().catch(() => {}),
    ANNOUNCE_INTERVAL,
  ).unref();
  return {
    /** At least 1. */
    count: () => count,
    announce,
    async close() {
      clearInterval(timer);
      // On failure Redis removes the gateway after `GATEWAY_TTL`.
      await withDeadline(redis.zrem(list, id), LEAVE_TIMEOUT).catch(() => {});
    },
  };
}
