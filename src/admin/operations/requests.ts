import type { Operations } from '@storegate/admin-api';
import { CATALOGUE } from '../../common/errors/catalogue.ts';
import { refusedIn } from '../../observe/events.ts';
import { ask, type PeerResponses } from '../../observe/peers/peers.ts';
import {
  type Call,
  type DecisionView,
  type Explained,
  explain,
  type ListedRequest,
  lastCallsOf,
  type Memory,
  newestOf,
  type Refusals,
  type RequestPeriod,
  type RequestView,
  refusals,
  upToOf,
} from '../../observe/peers/requests.ts';
import { AdminError } from '../admin-error.ts';
import type { AdminOperations } from '../call.ts';
import type { AdminContext } from '../context.ts';
import { momentIn } from '../duration.ts';
import { ofApi, unknownName } from '../filters.ts';
import { isolationText } from '../ledger.ts';
import { DEFAULT_LIMIT, unknownPage } from '../lists.ts';
import { time } from '../view.ts';

export function requestOperations(context: AdminContext) {
  return {
    explainRequest: async ({ path }) => {
      const id = path.id.toLowerCase();
      const gathered = await ask(context.peers(), explain, id);
      for (const { gateway, response } of gathered.responses) {
        if (response.request !== null) return shown(gateway, response.request);
      }
      const isolated = isolationText(context, gathered.isolated);
      throw new AdminError('not_found', unknown(id, { ...gathered, isolated }));
    },
    listRequests: async ({ query }) => {
      const { key = null, account = null, limit = DEFAULT_LIMIT } = query;
      const includes = ofApi(context, query.api);
      const newer = newerIn(query);
      const filter = {
        key,
        account,
        api: query.api ?? null,
        code: codeIn(query),
        limit,
        newer,
        ...periodIn(query),
      };
      const { responses, unresponsive, isolated } = await ask(
        context.peers(),
        refusals,
        filter,
      );
      const lists = responses.map(({ gateway, response }) =>
        response.requests.map((one) => ({ gateway, ...one })),
      );
      const requests = newestOf(lists, limit);
      const calls = lastCallsOf(
        responses.map(({ gateway, response }) => ({
          calls: response.calls
            ?.filter(({ operation }) => includes(operation))
            .map((call) => ({ gateway, ...call })),
        })),
      );
      const last = requests.length === limit ? requests.at(-1)! : null;
      return {
        requests: requests.map(listView),
        // They are no part of the pages.
        calls: query.after === undefined ? calls.map(callView) : [],
        next: last && `${last.at}-${last.id}`,
        newest: newestText({
          ...newer,
          ...upToOf(responses.map(({ response }) => response)),
        }),
        unresponsive,
        isolated: isolationText(context, isolated),
      };
    },
  } satisfies Partial<AdminOperations>;
}

/** Throws AdminError. */
function periodIn({
  since,
  until,
  after,
}: Operations['listRequests']['query']): RequestPeriod {
  const [, at, id = ''] = /^(\d{1,15})-(.+)$/.exec(after ?? '') ?? [];
  if (after !== undefined && at === undefined) throw unknownPage();
  const last = momentIn('until', until);
  const end = last === undefined ? null : { at: last, id: '' };
  return {
    since: momentIn('since', since) ?? null,
    before: at === undefined ? end : { at: Number(at), id },
  };
}

type Newest = Refusals['upTo'];

/** Processes that were replaced long ago are left out. */
const MOST_PROCESSES = 500;

function newerIn({
  newer,
}: Operations['listRequests']['query']): Newest | null {
  if (newer === undefined) return null;
  const places = newer.split('.').map((place) => place.split('-'));
  return Object.fromEntries(places.map(([id, number]) => [id, +number!]));
}

function newestText(upTo: Newest): string | null {
  const places = Object.entries(upTo).map(([id, number]) => `${id}-${number}`);
  return places.slice(-MOST_PROCESSES).join('.') || null;
}

/** A code of the catalogue, also as a report, or a status for failures without a code. Throws AdminError. */
function codeIn({ code }: Operations['listRequests']['query']): string | null {
  if (code === undefined) return null;
  const codes = Object.keys(CATALOGUE);
  if (codes.includes(refusedIn(code)) || /^5\d\d$/.test(code)) return code;
  throw unknownName('error code', code, codes, 'code');
}

function shown(
  gateway: string,
  { decision, windows, sentPath = null, ...rest }: RequestView,
) {
  return {
    ...listView({ gateway, ...rest }),
    sentPath,
    decision: decision && decisionView(decision),
    windows: windows.map(({ resetAt, ...window }) => ({
      ...window,
      resetAt: time(resetAt),
    })),
  };
}

function decisionView({ retryAt, bannedUntil, ...rest }: DecisionView) {
  return { ...rest, retryAt: time(retryAt), bannedUntil: time(bannedUntil) };
}

const callView = <C extends Call>({ at, ...rest }: C) => ({
  at: time(at),
  ...rest,
});

function listView<R extends ListedRequest & { readonly gateway: string }>(
  request: R,
) {
  const { gateway, id, worker, at, ...rest } = request;
  return { id, gateway, worker, at: time(at), ...rest };
}

function unknown(
  id: string,
  { responses, unresponsive, isolated }: PeerResponses<Explained>,
): string {
  if (responses.length === 0 && unresponsive.length === 0 && isolated === null)
    return 'No gateway runs, and the last requests are in the memory of gateways alone.';
  return [
    `No gateway has the request ${id}.`,
    ...responses.map(
      ({ gateway, response }) => `${gateway} ${memoryText(response.memory)}.`,
    ),
    ...(unresponsive.length > 0
      ? [`Did not respond: ${unresponsive.join(', ')}.`]
      : []),
    ...(isolated === null
      ? []
      : [`No other gateway could be queried: ${isolated}.`]),
    'Only some identical refusals are kept. The log has a line for each request except repeated refusals, unless log.requests is false.',
  ].join(' ');
}

function memoryText(memory: Memory | null): string {
  if (memory === null) return 'had no worker that responded';
  const { requests, sample, goodSince, othersSince } = memory;
  if (requests === 0) return 'keeps none, because explain.bufferSize is 0';
  const good =
    sample === 0
      ? 'no good ones'
      : `${sample < 1 ? `${Number(sample.toPrecision(2))} of the ` : ''}good ones since ${time(goodSince)}`;
  return `keeps ${good}, and refusals and failures since ${time(othersSince)}`;
}
