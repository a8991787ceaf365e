import { readFileSync } from 'node:fs';
import { USAGE_PATH } from '../common/reserved-paths.ts';
import type { Config } from '../config/config.ts';
import type { Contract } from '../config/contract/contract.ts';
import { shippedFiles } from '../config/load.ts';

export interface ReadDocument {
  readonly contract: Pick<Contract, 'operations' | 'exempted' | 'isForGateway'>;
  /** `pass`: parts of the document are not supported. */
  readonly onUnsupported: 'refuse' | 'pass';
}

/** What happens to requests that violate the contract. */
export type RequestTreatment = Config['contract']['requests'];

/**
 * The text of gateway.yaml, with a reason for each setting. `file`: a path relative to the folder
 * of gateway.yaml, a URL, or `none`.
 */
export function gatewayFile(
  backend: string,
  file: string,
  {
    contract,
    onUnsupported,
    requests,
  }: ReadDocument & { readonly requests: RequestTreatment },
): string {
  const { exempted, operations, isForGateway } = contract;
  const why =
    file === 'none'
      ? `Requests are not validated, and every path but ${USAGE_PATH} is forwarded.`
      : 'Requests are validated against it.';
  const reports =
    '  requests: report # Violations are logged and counted, and the requests forwarded. Then choose enforce.';
  const lines = [
    '# Written by storegate init. docs/configuration.md has every setting with its default.',
    'upstream:',
    `  url: ${scalar(backend)} # Your API.`,
    'contract:',
    `  file: ${scalar(file)} # ${why}`,
    ...(requests === 'report' ? [reports] : []),
    ...(onUnsupported === 'refuse'
      ? []
      : [
          `  onUnsupported: ${onUnsupported} # ${exempted.length} of ${operations.length} operations have mistakes or unsupported parts;`,
          '  # storegate check lists them. Their requests are not validated, or get 404 if their path cannot be matched.',
        ]),
    ...(isForGateway
      ? []
      : [
          'keys:',
          '  # The key is in this header alone, so that an Authorization header reaches your API unchanged.',
          '  headers: [X-API-Key]',
        ]),
    'plans:',
    '  file: plans.yaml',
  ];
  return `${lines.join('\n')}\n`;
}

/** The shipped plans, without the schema of an editor, which the new folder lacks. */
export function plansFile(): string {
  const shipped = readFileSync(shippedFiles.plans, 'utf8');
  return shipped.replace(
    /^# yaml-language-server: .*/,
    '# Written by storegate init.',
  );
}

/** A text as YAML. */
function scalar(text: string): string {
  return /^[\w./][\w./:-]*$/.test(text) &&
    !/^(?:true|false|null|~|[\d.]+)$/i.test(text)
    ? text
    : JSON.stringify(text);
}
