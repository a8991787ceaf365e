import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import supertest from 'supertest';
import { withKeys } from '../../src/cli/connect/storage.ts';
import { startStore } from '../../src/cli/store.ts';
import type { Config, ServedConfig } from '../../src/config/config.ts';
import { namesBackends, withBackend } from '../../src/config/describe.ts';
import { loadConfig, shippedFiles } from '../../src/config/load.ts';
import { createLog } from '../../src/observe/log.ts';
import type { KeyDraft } from '../../src/records/keys/draft.ts';
import { createKey } from '../../src/records/keys/manage.ts';
import type { ContractLoader } from '../../src/run/contracts/loader.ts';
import { createGateway, type Gateway } from '../../src/run/gateway.ts';
import { clientOf } from './client.ts';
import { patientConfig } from './deadlines.ts';
import { TestClock } from './limits.ts';
import { editOf } from './records.ts';
import { RememberingLoader } from './remembering-loader.ts';

export interface GatewayOptions {
  /**
   * Text of gateway.yaml; other settings have the shipped defaults, except deadlines
   * (`deadlines.ts`).
   */
  readonly settings?: string;
  /** Text of plans.yaml; the shipped plans by default. */
  readonly plans?: string;
  readonly env?: Readonly<Record<string, string>>;
  /**
   * Comma-separated upstream URLs; by default an upstream runs in this process, or the settings
   * name some.
   */
  readonly backendUrl?: string;
  readonly contracts?: ContractLoader;
}

/** Stop it after use. */
export class TestGateway {
  readonly clock = new TestClock(Date.now());
  readonly folder = mkdtempSync(join(tmpdir(), 'storegate-'));
  readonly log: Record<string, unknown>[] = [];
  readonly config: Config;
  url = '';
  adminUrl = '';
  #gateway: Gateway | null = null;
  #closeBackend: () => Promise<void> = async () => {};
  readonly #backendUrl: string | undefined;
  readonly #contracts: ContractLoader | undefined;
  readonly #load: () => Config;

  private constructor({ settings = '', plans, env = {}, backendUrl, contracts }: GatewayOptions) {
    writeFileSync(join(this.folder, 'gateway.yaml'), settings.trim() === '' ? '{}' : settings);
    if (plans !== undefined) writeFileSync(join(this.folder, 'plans.yaml'), plans);
    this.#backendUrl = backendUrl;
    this.#contracts = contracts;
    const options = {
      cwd: this.folder,
      env: {
        STOREGATE_HOST: '127.0.0.1',
        STOREGATE_PORT: '0',
        STOREGATE_ADMIN_PORT: '0',
        STOREGATE_CONFIG: 'gateway.yaml',
        ...(plans === undefined ? {} : { STOREGATE_PLANS: 'plans.yaml' }),
        // Beside APIs of their own, the shipped contract is there only if it is named.
        ...(/^apis:/m.test(settings) &&
          !/^contract:.*file/m.test(settings) && { STOREGATE_CONTRACT: shippedFiles.contract }),
        ...env,
      },
    };
    this.#load = () => patientConfig(loadConfig(options));
    this.config = this.#load();
  }

  static async start(options: GatewayOptions = {}): Promise<TestGateway> {
    const gateway = new TestGateway(options);
    try {
      await gateway.open();
    } catch (error) {
      await gateway.stop();
      throw error;
    }
    return gateway;
  }

  async open(): Promise<void> {
    const config =
      this.#backendUrl === undefined && namesBackends(this.config)
        ? this.config
        : await this.#withBackend();
    const log = createLog(this.config.log, {
      destination: { write: (line) => void this.log.push(JSON.parse(line)) },
    });
    this.#gateway = await createGateway(config, {
      clock: this.clock.read,
      log,
      load: this.#load,
      contracts: this.#contracts ?? new RememberingLoader(),
    });
    const { url, adminUrl } = await this.#gateway.start();
    this.url = url;
    this.adminUrl = adminUrl;
  }

  async #withBackend(): Promise<ServedConfig> {
    return withBackend(this.config, this.#backendUrl ?? (await this.#openBackend()));
  }

  async #openBackend(): Promise<string> {
    const { store: backend, url } = await startStore(join(this.folder, 'store.db'), {
      host: '127.0.0.1',
      port: 0,
    });
    this.#closeBackend = () => backend.close();
    return url;
  }

  /** Stops gateway and backend, and keeps the folder for `open`. */
  async close(): Promise<void> {
    await this.#gateway?.stop();
    await this.#closeBackend();
  }

  async stop(): Promise<void> {
    await this.close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  async key(draft: Partial<KeyDraft> = {}): Promise<{ secret: string; id: string }> {
    const full = { account: 'acme', plan: 'free', env: 'test', ...draft };
    const { secret, record } = await withKeys(this.config, (backend) =>
      createKey(editOf(backend, this.clock.now), this.config.plans, full),
    );
    return { secret, id: record.id };
  }

  get client() {
    return clientOf(this.url);
  }

  get admin() {
    return supertest(this.adminUrl);
  }
}
