import {
  type CheckedLines,
  checkedLines,
  FieldLines,
  type Fields,
  oneByte,
  prepareRead,
} from '@storegate/http1';
import { plainAddress, reportedHops } from '../../common/clients/address.ts';
import { withoutFields } from '../../common/field-list.ts';
import { remembered } from '../../common/remembered.ts';
import type { HeaderRules } from '../../config/config.ts';
import { type Client, isAnonymous } from '../../records/keys/key.ts';
import type { Exchange } from '../exchange.ts';
import { optionsOf, type ReturnedNames } from '../wire/fields.ts';
import { schemeOf } from '../wire/origin.ts';
import type { Via } from '../wire/via.ts';

interface Peer {
  readonly address: string;
  readonly host: string | undefined;
  readonly lines: CheckedLines;
}

/** By connection. */
const lastPeers = new WeakMap<object, Peer>();

const REQUEST_ID = oneByte('X-Request-Id');
const VIA = oneByte('via');

type ClientFields = Pick<Client, 'keyId' | 'account' | 'plan' | 'scopes'>;

/** `null`: not sent. */
type IdentityHeaders = Readonly<
  Record<'keyId' | 'account' | 'plan' | 'scopes', string | null>
>;

/**
 * `Connection: X-Storegate-Account` cannot remove our headers, because a client's options apply
 * only to its own. `plain`: without Accept-Encoding.
 */
export type RequestFields = (
  exchange: Exchange,
  client: ClientFields,
  plain?: boolean,
) => FieldLines;

export function createRequestFields(
  identity: IdentityHeaders,
  via: Via,
): RequestFields {
  const linesOf = remembered((client: ClientFields) => {
    const { account, plan, scopes } = client;
    const values = {
      keyId: isAnonymous(client) ? '' : client.keyId,
      account,
      plan,
      scopes: scopes.join(' '),
    };
    return checkedLines(
      (Object.keys(values) as (keyof typeof values)[]).flatMap((name) =>
        identity[name] === null || values[name] === ''
          ? []
          : [identity[name], values[name]],
      ),
    );
  });

  return function requestFields(exchange, client, plain = false) {
    const { head, call } = exchange;
    const lines = new FieldLines();
    lines.addLines(
      plain
        ? checkedLines(withoutFields(head.forwardable, ['accept-encoding']))
        : head.lines,
    );
    lines.addLines(via.lines[call.minor]);
    lines.addKnown(REQUEST_ID, exchange.id);
    lines.addLines(linesOf(client));
    if (exchange.behindProxy) addChain(lines, exchange);
    else lines.addLines(peerLines(exchange));
    return lines;
  };
}

/** With the fields that rules set. */
export function ruledFields(
  requestFields: RequestFields,
  { set }: HeaderRules,
): RequestFields {
  const list = Object.entries(set).flat();
  if (list.length === 0) return requestFields;
  const all = checkedLines(list);
  const unencoded = checkedLines(withoutFields(list, ['accept-encoding']));
  return (exchange, client, plain) => {
    const lines = requestFields(exchange, client, plain);
    lines.addLines(plain ? unencoded : all);
    return lines;
  };
}

/** RFC 7239 and de-facto headers; a direct client's own are dropped. */
function peerLines(exchange: Exchange): CheckedLines {
  const { address, call, head } = exchange;
  const { host } = head;
  const last = lastPeers.get(call.connection);
  if (last !== undefined && last.address === address && last.host === host)
    return last.lines;
  const proto = schemeOf(exchange);
  const list = ['X-Forwarded-For', address, 'X-Forwarded-Proto', proto];
  if (host !== undefined) list.push('X-Forwarded-Host', host);
  list.push('Forwarded', `for=${node(address)};${origin(proto, host)}`);
  const lines = checkedLines(list);
  lastPeers.set(call.connection, {
    address,
    host: host && oneByte(host),
    lines,
  });
  return lines;
}

/** A trusted proxy's headers are kept. */
function addChain(lines: FieldLines, exchange: Exchange): void {
  const { call, head } = exchange;
  const chain = [...reportedHops(head.forwardedFor), plainAddress(call.peer)];
  const proto = schemeOf(exchange);
  const host = head.forwardedHost ?? head.host;
  lines.add('X-Forwarded-For', chain.join(', '));
  lines.add('X-Forwarded-Proto', proto);
  if (host !== undefined) lines.add('X-Forwarded-Host', host);
  lines.add(
    'Forwarded',
    `${chain.map((hop) => `for=${node(hop)}`).join(', ')};${origin(proto, host)}`,
  );
}

/** RFC 7239 section 6: an IPv6 address needs brackets and quotes. */
function node(address: string): string {
  return address.includes(':') ? `"[${address}]"` : address;
}

function origin(proto: string, host: string | undefined): string {
  return host === undefined
    ? `proto=${proto}`
    : `proto=${proto};host="${host.replace(/["\\]/g, '')}"`;
}

interface Returned {
  readonly status: number;
  readonly minor: 0 | 1;
  readonly names: ReturnedNames;
  readonly list: readonly string[];
  isPrepared: boolean;
}

/**
 * Flat, with lower-case names. Backends often repeat the fields of a response, and then it returns
 * the same list.
 */
export function returnedHeaders(
  fields: Pick<Fields, 'list' | 'meaning'>,
  status: number,
  names: ReturnedNames,
  minor: 0 | 1 = 1,
): readonly string[] {
  const cached = fields.meaning as Returned | null;
  if (
    cached?.status !== status ||
    cached.minor !== minor ||
    cached.names !== names
  ) {
    const list = returnedList(fields.list, status, names);
    list.push(VIA, names.via[minor]);
    fields.meaning = {
      status,
      minor,
      names,
      list,
      isPrepared: false,
    } satisfies Returned;
    return list;
  }
  if (!cached.isPrepared) prepareRead(cached.list);
  cached.isPrepared = true;
  return cached.list;
}

function returnedList(
  fields: readonly string[],
  status: number,
  names: ReturnedNames,
): string[] {
  const list: string[] = [];
  let connection = '';
  let cached = false;
  for (let i = 0; i < fields.length; i += 2) {
    const { name, returned } = names.of(fields[i]!);
    if (name === 'connection')
      connection =
        connection === '' ? fields[i + 1]! : `${connection},${fields[i + 1]!}`;
    // They have no length (RFC 9110 section 8.6).
    const isUnsized = status === 204 || status === 101;
    if (!returned || (isUnsized && name === 'content-length')) continue;
    if (name === 'cache-control') cached = true;
    list.push(name, fields[i + 1]!);
  }
  if (!cached) list.push(...names.notShared);
  return connection === '' || connection === 'keep-alive'
    ? list
    : withoutFields(list, optionsOf(connection));
}
