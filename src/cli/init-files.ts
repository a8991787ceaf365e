/** What gateway.yaml says beside the defaults. */
export interface GatewayFile {
  readonly backend: string;
  /** A path relative to the folder of the file, a URL, or `none`. */
  readonly contract: string;
  readonly onUnsupported: 'refuse' | 'pass';
  /** Of `operations`, those that are not validated. */
  readonly exempted: number;
  readonly operations: number;
  /** The only header for the key; `null`: as the document says. */
  readonly keyHeader: string | null;
}

/** The text of gateway.yaml, with a reason for each setting. */
export function gatewayFile({
  backend,
  contract,
  onUnsupported,
  exempted,
  operations,
  keyHeader,
}: GatewayFile): string {
  const why =
    contract === 'none'
      ? 'Requests are not validated, and every path is forwarded.'
      : 'Requests are validated against it.';
  const lines = [
    '# Written by storegate init. docs/configuration.md has every setting with its default.',
    'upstream:',
    `  url: ${scalar(backend)} # Your API.`,
    'contract:',
    `  file: ${scalar(contract)} # ${why}`,
    ...(onUnsupported === 'refuse'
      ? []
      : [
          `  onUnsupported: ${onUnsupported} # ${exempted} of ${operations} operations have mistakes or unsupported parts;`,
          '  # storegate check lists them. Their requests are not validated, or get 404 if their path cannot be matched.',
        ]),
    ...(keyHeader === null
      ? []
      : [
          'keys:',
          '  # The key is in this header alone, so that an Authorization header reaches your API unchanged.',
          `  carriers: [{ header: ${keyHeader} }]`,
        ]),
    'plans:',
    '  file: plans.yaml',
  ];
  return `${lines.join('\n')}\n`;
}

export function plansFile(): string {
  return `# Written by storegate init. A request counts in every window of its plan. Keys that keep sending after a 429 are banned.
plans:
  free:
    windows: [{ limit: 60, per: minute }, { limit: 1000, per: day }]
  pro:
    windows: [{ limit: 300, per: minute }, { limit: 10000, per: day }]
  business:
    windows: [{ limit: 1000, per: minute }, { limit: 100000, per: day }]
  enterprise:
    custom: true # Limits are set for each key.
`;
}

/** A text as YAML. */
function scalar(text: string): string {
  return /^[\w./][\w./:-]*$/.test(text) && !/^(?:true|false|null|~|[\d.]+)$/i.test(text) ? text : JSON.stringify(text);
}
