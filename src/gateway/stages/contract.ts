import {
  AMBIGUOUS,
  type BodyRule,
  type Fault,
  MAX_FAULTS,
  type MediaRule,
} from '@storegate/openapi';
import { CATALOGUE } from '../../common/errors/catalogue.ts';
import { Refusal } from '../../common/errors/refusals.ts';
import type { MaybePromise } from '../../common/maybe-promise.ts';
import { DEFAULT_API } from '../../config/apis.ts';
import type { Operation } from '../../config/contract/contract.ts';
import { faultOfBody, type Report } from '../contract-reports.ts';
import type { Exchange } from '../exchange.ts';
import type { Admitted, Checked, CheckedRequest, Target } from '../results.ts';
import { methodNotAllowed, notFound, sunset } from '../route-refusals.ts';
import type { Route, RouteMatch } from '../routes.ts';
import type { Bodies } from '../wire/bodies.ts';
import { targetRefusal } from '../wire/target.ts';
import type { LargeChecks } from './large-checks.ts';

/** Throws or rejects with a Refusal. */
export type CheckContract = (
  exchange: Exchange,
  client: Admitted,
  target: Target,
  match: RouteMatch,
) => MaybePromise<Checked>;

interface ContractSettings {
  readonly bodies: Pick<Bodies, 'read' | 'begin'>;
  readonly largeChecks: LargeChecks;
  readonly refuseAfterSunset: boolean;
  readonly clock: () => number;
  readonly report: Report;
  /** The path of an operation that the client may have meant. */
  readonly similar: (path: string) => string | null;
  /**
   * Where requests without an operation go, as all that the contract refuses is reported only;
   * `null`: it is refused.
   */
  readonly elsewhere: Route | null;
}

type Unmatched = Exclude<RouteMatch, { readonly kind: 'route' }>;

type Unread = Omit<CheckedRequest, 'body'>;

export function createContract(settings: ContractSettings): CheckContract {
  const { bodies, largeChecks, refuseAfterSunset, clock } = settings;
  const { report, similar, elsewhere } = settings;

  return function contract(
    exchange,
    client,
    target,
    match,
  ): MaybePromise<Checked> {
    if (client.apis !== null) refuseOtherApi(exchange, client.apis);
    const { path } = target;
    const route =
      match.kind === 'route' ? match.route : unmatched(exchange, path, match);
    const { operation } = route;
    const request = { client, target, route };
    if (match.kind !== 'route') return unchecked(exchange, request);
    if (operation !== null) refuseMissingScopes(operation, client);
    const { parameters } = match;
    if (parameters === null) throw targetRefusal({ in: 'path', ...AMBIGUOUS });
    if (operation === null) return unchecked(exchange, request);
    const compiling = operation.ready('request');
    if (compiling)
      return compiling.then(() => contract(exchange, client, target, match));
    if (
      refuseAfterSunset &&
      operation.sunset !== null &&
      operation.sunset * 1000 <= clock()
    ) {
      throw sunset(exchange, path, operation.sunset);
    }
    if (operation.exempt === 'pass') return unchecked(exchange, request);
    const faults = operation.checkParameters(
      parameters,
      target.query,
      exchange.call.fields.list,
    );
    if (elsewhere !== null || operation.reportOnly)
      return reported(exchange, operation, request, faults);
    const rule = ruleOf(exchange, operation);
    const media = mediaOf(exchange, rule);
    if (!media) {
      refuse([...faults, ...withoutBody(rule)]);
      return checked({ ...request, body: null });
    }
    return bodyOf(exchange, request).then((body) => {
      const end = (found: readonly Fault[]) => {
        refuse([...faults, ...found]);
        return checked({ ...request, body });
      };
      const found =
        body === null
          ? withoutBody(rule)
          : largeChecks.inTurn(exchange, client.owner, body, media);
      return found instanceof Promise ? found.then(end) : end(found);
    });
  };

  /** Throws the refusal if requests are not only reported. */
  function unmatched(
    exchange: Exchange,
    path: string,
    match: Unmatched,
  ): Route {
    const refusal =
      match.kind === 'not_found'
        ? notFound(exchange, path, similar(path))
        : methodNotAllowed(exchange, path, match.allow);
    if (elsewhere === null) throw refusal;
    const { code, recorded: message } = refusal;
    exchange.reported = code;
    report(exchange, 'request', [
      { in: 'path', pointer: '', message, rule: 'unexpected' },
    ]);
    return elsewhere;
  }

  function bodyOf(exchange: Exchange, { route, client }: Unread) {
    return bodies.read(exchange, route.maxBodyBytes, client.owner);
  }

  function unchecked(
    exchange: Exchange,
    request: Unread,
  ): MaybePromise<Checked> {
    if (!exchange.call.hasBody) return checked({ ...request, body: null });
    const { route, client } = request;
    const arriving = bodies.begin(exchange, route.maxBodyBytes, client.owner);
    return arriving.then((body) => checked({ ...request, body }));
  }

  /** Refuses only bodies that are too large. */
  async function reported(
    exchange: Exchange,
    operation: Operation,
    request: Unread,
    faults: readonly Fault[],
  ): Promise<Checked> {
    const body = await bodyOf(exchange, request);
    const rule = ruleOf(exchange, operation);
    try {
      const media = mediaOf(exchange, rule);
      const found =
        body === null || media === null
          ? withoutBody(rule)
          : await largeChecks.inTurn(
              exchange,
              request.client.owner,
              body,
              media,
            );
      refuse([...faults, ...found]);
    } catch (refusal) {
      if (!(refusal instanceof Refusal)) throw refusal;
      exchange.reported = refusal.code;
      report(
        exchange,
        'request',
        refusal.details ?? [faultOfBody(refusal.message, 'mediaType')],
      );
    }
    return checked({ ...request, body });
  }
}

function refuse(faults: readonly Fault[]): void {
  if (faults.length > 0) throw invalid(faults);
}

function checked(request: CheckedRequest): Checked {
  return request as Checked;
}

/** Before the path: the key gets to know nothing of another API. */
function refuseOtherApi(
  { api: { name } }: Exchange,
  apis: readonly string[],
): void {
  if (apis.includes(name ?? DEFAULT_API)) return;
  throw new Refusal('api_not_allowed', {
    message: `This API key may only be used for ${apis.join(', ')}. ${CATALOGUE.api_not_allowed.advice}`,
  });
}

/** First: a key without the scope costs no validation and no body. */
function refuseMissingScopes(
  { requiredScopes }: Operation,
  { scopes }: Admitted,
): void {
  if (requiredScopes.length === 0) return;
  const missing = requiredScopes.filter((name) => !scopes.includes(name));
  if (missing.length === 0) return;
  throw new Refusal('scope_missing', {
    message: `This API key lacks the ${missing.length === 1 ? 'scope' : 'scopes'} ${missing.join(', ')}. ${CATALOGUE.scope_missing.advice}`,
    // RFC 6750 section 3.1.
    headers: [
      'WWW-Authenticate',
      `Bearer realm="storegate", error="insufficient_scope", scope="${requiredScopes.join(' ')}"`,
    ],
  });
}

/** GET also serves HEAD, but a described body is for GET alone. */
function ruleOf({ call }: Exchange, { body }: Operation): BodyRule | null {
  return call.method === 'HEAD' ? null : body;
}

/** A body of the wrong type is never read. */
function mediaOf(
  { call, head }: Exchange,
  rule: BodyRule | null,
): MediaRule | null {
  if (!call.hasBody) return null;
  if (!rule)
    throw invalid([faultOfBody('request body is not allowed', 'unexpected')]);
  const encoding = head.contentEncoding?.trim().toLowerCase() ?? 'identity';
  const media = encoding === 'identity' ? rule.media(head.contentType) : null;
  if (!media) {
    const isEncoded = encoding !== 'identity';
    const message = isEncoded
      ? `Content-Encoding${quoted(encoding)} is not supported. Send the body without it.`
      : `The body must be ${rule.accepted.join(' or ')}, in UTF-8.`;
    const accept = ['Accept', rule.accepted.join(', ')];
    throw new Refusal('unsupported_media_type', {
      message,
      echoes: true,
      // RFC 9110 section 15.5.16: otherwise clients take the media type for the reason.
      headers: isEncoded ? [...accept, 'Accept-Encoding', 'identity'] : accept,
    });
  }
  return media;
}

/** Only a plain word is quoted: anything else may be a secret. */
function quoted(value: string): string {
  return /^[a-z-]{1,20}$/.test(value) ? ` ${value}` : '';
}

function withoutBody(rule: BodyRule | null): readonly Fault[] {
  return rule?.required
    ? [faultOfBody('request body is required', 'required')]
    : [];
}

function invalid(details: readonly Fault[]): Refusal {
  return new Refusal('invalid_request', {
    message: `${sentenceOf(details[0]!)}${othersOf(details)}`,
    echoes: true,
    details,
  });
}

/** How many other violations there are. */
function othersOf(details: readonly Fault[]): string {
  const others = details.filter(({ rule }) => rule !== 'more').length - 1;
  if (details.length === 1) return '';
  if (others === 0) return ' See details for more.';
  const isAll = others === details.length - 1 && others + 1 < MAX_FAULTS;
  return ` See details for ${isAll ? '' : 'at least '}${others} more.`;
}

const PLACES: Readonly<Record<Fault['in'], string>> = {
  path: 'Path parameter',
  query: 'Query parameter',
  header: 'Header',
  cookie: 'Cookie',
  body: 'Body',
};

/** For example: Query parameter limit must be an integer. */
function sentenceOf({ in: place, pointer, message }: Fault): string {
  const name = pointer.slice(place === 'body' ? 0 : 1);
  const isNamed = message.startsWith('request body');
  const whole = isNamed ? 'The' : `The ${place}`;
  const subject = pointer === '' ? whole : `${PLACES[place]} ${name || '""'}`;
  return `${subject} ${message}${/[.?]$/.test(message) ? '' : '.'}`;
}
