import type {
  Backend,
  Finding,
  Gateway,
  Health,
  LostGateway,
  PeerCoverage,
} from '../generated/types.ts';
import { CAUSES, FINDINGS, type FindingType, READINESS } from './findings.ts';
import { number, percent, plural } from './format.ts';
import { reasonText, stateText, type WriteTime } from './gateways.ts';

// The only judgement of health: of the server, which the console, the command line, metrics and
// alerts show.

/** One fact that a gateway reports of itself. `since`: RFC 3339. */
export interface Condition {
  readonly type: FindingType;
  readonly since: string | null;
  /** Completes the sentence of the finding. */
  readonly detail: string;
}

export interface GatewayFacts
  extends Pick<Gateway, 'gateway' | 'started' | 'readiness' | 'workers'>,
    Pick<Gateway['configuration'], 'differs'> {
  /** Workers that responded. */
  readonly processes: number;
  readonly conditions: readonly Condition[];
}

/** Requests of the last minute. */
export interface RecentTraffic {
  readonly requests: number;
  /** With status 5xx. */
  readonly failed: number;
  /** By limits and bans. */
  readonly refused: number;
}

export interface HealthFacts extends PeerCoverage {
  readonly gateways: readonly GatewayFacts[];
  readonly lost: readonly LostGateway[];
  /** As all processes see them. */
  readonly backends: readonly Backend[];
  readonly traffic: RecentTraffic;
  /** The client that limits refused most; `null`: not asked, or not known. */
  readonly mostRefused: string | null;
}

type Status = Health['status'];
type Sign = Condition & { readonly gateway?: string };

const SEVERITY = { ok: 0, degraded: 1, down: 2 } as const;
const STATUSES = ['ok', 'degraded', 'down'] as const;

/** The fewest requests of which a share counts, and the fewest failures that clients feel. */
const MIN_REQUESTS = 20;
const MIN_FAILED = 3;
/**
 * Shares of requests. A service of which most requests succeed is not down: what asks `/health`
 * may stop sending to it. The alert StoregateErrors begins at 5 % for five minutes.
 */
const DOWN_SHARE = 0.5;
const DEGRADED_SHARE = 0.001;
const REFUSED_SHARE = 0.5;

/**
 * Judges by what clients feel. Down: requests fail or cannot arrive. Degraded: something does not
 * work as configured. The worst finding comes first, each followed by what it causes.
 */
export function judgeHealth(facts: HealthFacts): Health {
  const signs: Sign[] = [
    ...facts.gateways.flatMap(ofGateway),
    ...ofAvailability(facts),
    ...ofPeers(facts),
    ...ofBackends(facts.backends),
    ...ofTraffic(facts),
  ];
  const groups = Map.groupBy(signs, groupOf);
  const findings = inOrder([...groups.values()].map(findingOf));
  const severity = Math.max(0, ...findings.map(severityOf));
  const status = STATUSES[severity]!;
  const times = findings
    .filter((one) => one.status === status)
    .flatMap(({ since }) => since ?? []);
  return {
    status,
    since: status === 'ok' ? null : sinceKnown(times, facts.gateways),
    findings,
  };
}

/** An outage of Redis is one, whatever each gateway saw of it. */
const groupOf = ({ type, detail }: Sign): string =>
  type.startsWith('redis_down') ? type : `${type} ${detail}`;

/** The first of the times, but nothing is known from before the start of the first gateway. */
function sinceKnown(
  times: readonly string[],
  gateways: readonly GatewayFacts[],
): string | null {
  const [first] = times.toSorted();
  const [started] = gateways.map(({ started }) => started).sort();
  if (first === undefined) return null;
  return started !== undefined && started > first ? started : first;
}

function inOrder(all: readonly Omit<Finding, 'cause'>[]): Finding[] {
  const types = new Set(all.map(({ type }) => type));
  const findings = all.map((one): Finding => {
    const causes = CAUSES[one.type as FindingType] ?? [];
    const cause = causes.find((type) => types.has(type)) ?? null;
    // What is done about the cause ends this too.
    return { ...one, cause, action: cause === null ? one.action : '' };
  });
  const byCause = Map.groupBy(findings, ({ cause }) => cause);
  const groups = [
    ...Map.groupBy(byCause.get(null) ?? [], ({ type }) => type),
  ].map(([type, some]) => [
    ...some.toSorted(byWeight),
    ...(byCause.get(type) ?? []).toSorted(byWeight),
  ]);
  const severityIn = (group: readonly Finding[]) =>
    Math.max(...group.map(severityOf));
  return groups
    .toSorted(
      (one, other) =>
        severityIn(other) - severityIn(one) || byWeight(one[0]!, other[0]!),
    )
    .flat();
}

/** Whether limits refuse so many requests that operators want to know the client. */
export const refusesMany = ({ requests, refused }: RecentTraffic): boolean =>
  requests >= MIN_REQUESTS && refused / requests >= REFUSED_SHARE;

/** 0: OK, 1: degraded, 2: down; an exit code and the value of a metric. */
export const severityOf = ({
  status,
}: {
  readonly status: Status;
}): 0 | 1 | 2 => SEVERITY[status];

const STATUS = { ok: 'OK', degraded: 'Degraded', down: 'Down' } as const;

export const statusText = (status: Status): string => STATUS[status];

/** `Degraded since 10:00: A certificate expires on 2030-01-31: tls.crt. Renew it.` */
export function healthText(
  { status, since, findings }: Health,
  time: WriteTime,
): string {
  const begin = since === null ? '' : ` since ${time(since)}`;
  const [worst] = findings;
  return worst === undefined
    ? `${STATUS[status]}.`
    : `${STATUS[status]}${begin}: ${sentencesOf(worst)}`;
}

/** One finding with its begin and the gateways that report it. */
export function findingText(finding: Finding, time: WriteTime): string {
  const { since, gateways } = finding;
  const notes = [
    ...(since === null ? [] : [`since ${time(since)}`]),
    ...gateways,
  ];
  return `${sentencesOf(finding)}${notes.length === 0 ? '' : ` (${notes.join(', ')})`}`;
}

const sentencesOf = ({ text, action }: Finding): string =>
  `${text} ${action}`.trimEnd();

/** With the command that helps, for a terminal. */
export function withCommand(finding: Finding): Finding {
  const { type, action, cause } = finding;
  const text: { command?: string } | undefined = FINDINGS[type as FindingType];
  const command = cause === null ? text?.command : undefined;
  return command === undefined
    ? finding
    : {
        ...finding,
        action: `${action} Run "storegate ${command}".`.trimStart(),
      };
}

function findingOf(signs: readonly Sign[]): Omit<Finding, 'cause'> {
  const { type, detail } = signs[0]!;
  const { status, text, action } = FINDINGS[type];
  const [since = null] = signs.flatMap((sign) => sign.since ?? []).sort();
  const gateways = signs.flatMap(({ gateway }) => gateway ?? []);
  return {
    type,
    status,
    since,
    gateways: [...new Set(gateways)],
    text: text.replace('$', () => detail.replace(/\.$/, '')),
    action,
  };
}

const WEIGHTS = Object.keys(FINDINGS);

/** A begin that is not known comes last. */
const begin = ({ since }: Finding): number =>
  since === null ? Number.MAX_SAFE_INTEGER : Date.parse(since);

function byWeight(one: Finding, other: Finding): number {
  const heavier = WEIGHTS.indexOf(one.type) - WEIGHTS.indexOf(other.type);
  return heavier || begin(one) - begin(other);
}

const sign = (
  type: FindingType,
  detail = '',
  more: Partial<Sign> = {},
): Sign => ({
  type,
  detail,
  since: null,
  ...more,
});

/** A newer gateway may report a condition that this version does not know. */
const isKnown = ({ type }: Condition): boolean => Object.hasOwn(FINDINGS, type);

function ofGateway({
  gateway,
  conditions,
  differs,
  workers,
  processes,
  readiness,
}: GatewayFacts) {
  const signs = conditions
    .filter(isKnown)
    .map((condition) => ({ ...condition, gateway }));
  if (differs.length > 0)
    signs.push({
      ...sign('configuration_differs', differs.join(', ')),
      gateway,
    });
  if (processes < workers && readiness !== 'no_workers')
    signs.push({
      ...sign(
        'workers_missing',
        `${workers - processes} of ${plural(workers, 'worker')}`,
      ),
      gateway,
    });
  return signs;
}

/** A gateway that is not ready is felt only if no other is. */
function ofAvailability({ gateways, unresponsive }: HealthFacts): Sign[] {
  const absent = gateways.filter(({ readiness }) => readiness !== 'ready');
  if (gateways.length === 0)
    return unresponsive.length > 0 ? [] : [sign('no_gateway')];
  if (absent.length < gateways.length)
    return absent.map(({ gateway, readiness }) =>
      readiness === 'stopping'
        ? sign('gateway_stopping', '', { gateway })
        : sign('gateway_not_ready', READINESS[readiness], { gateway }),
    );
  const reasons = new Set(absent.map(({ readiness }) => READINESS[readiness]));
  return [sign('no_gateway_ready', [...reasons].join('; '))];
}

function ofPeers({
  unresponsive,
  lost,
  isolated,
  gateways,
}: HealthFacts): Sign[] {
  const silent =
    gateways.length === 0 ? 'no_gateway_responds' : 'gateway_unresponsive';
  return [
    ...unresponsive.map((gateway) => sign(silent, gateway)),
    ...lost.map(({ gateway, at, replaced }) =>
      sign(replaced === null ? 'gateway_lost' : 'gateway_replaced', gateway, {
        since: at,
      }),
    ),
    ...(isolated === null ? [] : [sign('peers_unreachable')]),
  ];
}

function ofBackends(backends: readonly Backend[]): Sign[] {
  const waiting = backends.reduce(
    (sum, { connections }) => sum + connections.waiting,
    0,
  );
  const signs = [...Map.groupBy(backends, ({ upstream }) => upstream)].flatMap(
    ([, all]) => {
      const isDown = all.every(({ state }) => state === 'down');
      const since = all
        .map((one) => one.since)
        .sort()
        .at(-1)!;
      if (isDown) return [sign('upstream_down', downText(all), { since })];
      return all
        .filter(({ state }) => state === 'down' || state === 'partial')
        .map(ofBackend);
    },
  );
  return waiting > 0
    ? [...signs, sign('backend_waiting', plural(waiting, 'request'))]
    : signs;
}

/** `All 2 backends of default are down (connection failed)`. */
function downText(all: readonly Backend[]): string {
  const { upstream } = all[0]!;
  const reasons = [...new Set(all.map(reasonText))].filter(Boolean);
  const why = reasons.length === 0 ? '' : ` (${reasons.join(', ')})`;
  return all.length > 1
    ? `All ${all.length} backends of ${upstream} are down${why}`
    : `The only backend of ${upstream} is down${why}`;
}

function ofBackend(backend: Backend): Sign {
  const text = `${backend.backend} of ${backend.upstream} is ${stateText(backend)}`;
  return sign('backend_down', `${text}: ${reasonText(backend)}`, {
    since: backend.since,
  });
}

function ofTraffic({ traffic, mostRefused }: HealthFacts): Sign[] {
  const { requests, failed, refused } = traffic;
  const signs: Sign[] = [];
  if (failed >= MIN_FAILED && failed / requests >= DOWN_SHARE)
    signs.push(sign('requests_fail', shareText(failed, requests)));
  else if (failed > 0 && failed / requests >= DEGRADED_SHARE)
    signs.push(sign('some_requests_fail', shareText(failed, requests)));
  if (refusesMany(traffic)) {
    const client =
      mostRefused === null ? '' : `, most of them of ${mostRefused}`;
    const text = `${shareText(refused, requests)} of the requests of the last minute`;
    signs.push(sign('many_refused', `${text}${client}`));
  }
  return signs;
}

/** `2.0 % (60 of 3,000)`. */
const shareText = (part: number, all: number): string =>
  `${percent(part / all)} (${number(part)} of ${number(all)})`;
