import { ExpectedError, isExpected } from '../common/expected-error.ts';
import type { Address, Config } from '../config/config.ts';
import { sourceOf } from '../config/describe.ts';
import { variableOf } from '../config/environment.ts';
import { formatPosition } from '../config/problems/problems.ts';

class UnusableSetting extends ExpectedError {
  override name = 'UnusableSetting';
}

/** Reads the message, because workers are other processes. */
export function withOrigin(error: unknown, config: Config): unknown {
  if (!isExpected(error)) return error;
  const setting = settingIn(error.message, config);
  if (setting === null) return error;
  return new UnusableSetting(`${error.message} (${originOf(config, setting)})`, { cause: error });
}

function settingIn(message: string, { listen, admin, data }: Config): string | null {
  const part = /(that address|such host)$/.test(message) ? 'host' : 'port';
  const names = ({ host, port }: Address) => message.includes(`cannot listen on ${host}:${port}: `);
  if (names(listen)) return `listen.${part}`;
  if (names(admin)) return `admin.${part}`;
  return message.includes(data) ? 'data' : null;
}

/** `STOREGATE_PORT`, `listen.port in config/gateway.yaml:12:5`, or `the default; STOREGATE_PORT sets another`. */
function originOf(config: Config, setting: string): string {
  const origin = sourceOf(config, setting);
  if (origin.kind === 'environment') return origin.name;
  if (origin.kind === 'file') {
    return `${setting} in ${origin.file}${origin.position === null ? '' : `:${formatPosition(origin.position)}`}`;
  }
  return `the default; ${variableOf(setting)} sets another`;
}
