import { Outage } from '../../common/errors/outage.ts';
import { fieldIn, withoutFields } from '../../common/field-list.ts';
import type { Config } from '../../config/config.ts';
import { settledAdmission, settlementOf } from '../../limits/settlement.ts';
import type { Observe } from '../../observe/events.ts';
import type { State } from '../../state/state.ts';
import type { Exchange } from '../exchange.ts';
import { type Reply, toRefusal } from '../reply/reply.ts';
import type { Route } from '../routes.ts';
import type { BackendResponse } from '../upstream/backend-response.ts';
import { isIn } from '../upstream/checks.ts';
import { ClientAbort } from '../wire/client-abort.ts';
import type { Forward, ForwardTunnel } from './forward.ts';

/** 12 digits: sums of them stay exact. */
const UNITS = /^\d{1,12}$/;

interface Settled {
  readonly forward: Forward;
  readonly tunnel: ForwardTunnel;
  readonly reply: Reply;
}

interface SettleParts {
  readonly cost: Config['cost'];
  readonly state: Pick<State, 'settle'>;
  readonly observe: Observe;
}

/**
 * Charges what a response has cost, before its headers are written, so that they have what is left.
 * The state is not waited for. Without settings the stages stay as they are.
 */
export function withSettlement(
  stages: Settled,
  { cost, state, observe }: SettleParts,
): Settled {
  const { forward, tunnel, reply } = stages;
  const header = cost.header?.toLowerCase() ?? null;
  if (header === null && cost.refund.length === 0) return stages;

  function settle(exchange: Exchange, units: number): void {
    const { id, admission, client, scopes } = exchange;
    const rest = units - exchange.cost;
    if (admission?.verdict !== 'admitted' || rest === 0) return;
    const settlement = settlementOf(admission, rest, scopes);
    exchange.admission = settledAdmission(admission, settlement);
    exchange.usage = exchange.admission;
    exchange.cost = units;
    observe({
      type: 'cost.settled',
      result: rest > 0 ? 'charged' : 'returned',
    });
    const failed = (error: unknown) =>
      observe({ type: error instanceof Outage ? 'outage' : 'bug', id, error });
    const settling = state.settle(client!.subject, client!.limits!, settlement);
    if (settling instanceof Promise) settling.catch(failed);
  }

  function settleStatus(exchange: Exchange, status: number): void {
    if (isIn(status, cost.refund)) settle(exchange, 0);
  }

  /** The reported cost takes precedence over a refund. */
  function settleResponse(
    exchange: Exchange,
    { reportsCost }: Route,
    stored: BackendResponse,
  ): BackendResponse {
    const { status, headers } = stored;
    const reported = header === null ? undefined : fieldIn(headers, header);
    if (reported === undefined) {
      settleStatus(exchange, status);
      return stored;
    }
    if (!reportsCost) settleStatus(exchange, status);
    else if (UNITS.test(reported)) settle(exchange, Number(reported));
    else
      observe({
        type: 'cost.invalid',
        operation: exchange.route ?? exchange.api.none,
      });
    return { ...stored, headers: withoutFields(headers, [header!]) };
  }

  return {
    forward: async (exchange, checked) =>
      settleResponse(exchange, checked.route, await forward(exchange, checked)),
    async tunnel(exchange, checked) {
      const stored = await tunnel(exchange, checked);
      return stored && settleResponse(exchange, checked.route, stored);
    },
    reply: {
      ...reply,
      fail(exchange, failure) {
        const { call } = exchange;
        const hasResponse =
          call.begun || call.left || failure instanceof ClientAbort;
        if (!hasResponse) settleStatus(exchange, toRefusal(failure).status);
        return reply.fail(exchange, failure);
      },
    },
  };
}
