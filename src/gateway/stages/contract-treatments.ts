import type { Fault } from '@storegate/openapi';
import type { Report } from '../contract-reports.ts';
import type { Exchange } from '../exchange.ts';
import { methodNotAllowed, notFound } from '../route-refusals.ts';
import type { Route } from '../routes.ts';
import type { Treatment, Unmatched } from './contract.ts';

type Suggest = (path: string) => string | null;

/** `contract.requests: enforce`. */
export function enforcing(suggest: Suggest): Treatment {
  return {
    isReported: ({ reportOnly }) => reportOnly,
    unmatched(exchange, path, match) {
      throw refusalOf(exchange, path, match, suggest);
    },
  };
}

interface ReportingParts {
  readonly suggest: Suggest;
  readonly report: Report;
  /** Where requests without an operation go. */
  readonly route: Route;
}

/** `contract.requests: report`. */
export function reporting({
  suggest,
  report,
  route,
}: ReportingParts): Treatment {
  return {
    isReported: () => true,
    unmatched(exchange, path, match) {
      const { code, recorded: message } = refusalOf(
        exchange,
        path,
        match,
        suggest,
      );
      const fault: Fault = {
        in: 'path',
        pointer: '',
        message,
        rule: 'unexpected',
      };
      exchange.reported = code;
      report(exchange, 'request', [fault]);
      return route;
    },
  };
}

function refusalOf(
  exchange: Exchange,
  path: string,
  match: Unmatched,
  suggest: Suggest,
) {
  if (match.kind === 'not_found')
    return notFound(exchange, path, suggest(path));
  return methodNotAllowed(exchange, path, match.allow);
}
