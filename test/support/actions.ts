import { type CrashingGateway, GatewayGone, type Reply } from './crashes.ts';

interface Done {
  readonly what: string;
  readonly holds: () => Promise<boolean>;
}

/** Each action has a new idempotency key. A gateway must keep all responses after any crash. */
export class Actions {
  readonly done: Done[] = [];
  count: number;
  readonly #gateway: CrashingGateway;
  readonly #actions: readonly (() => Promise<Done>)[];

  constructor(gateway: CrashingGateway, count = 0) {
    this.count = count;
    this.#gateway = gateway;
    const { key, ban, lift, reset, grant, revoke, token, plan } = this;
    this.#actions = [key, ban, lift, reset, grant, revoke, token, plan].map((action) =>
      action.bind(this),
    );
  }

  async run(): Promise<void> {
    try {
      for (;;) await this.one();
    } catch (error) {
      if (!(error instanceof GatewayGone)) throw error;
    }
  }

  async one(): Promise<void> {
    this.count += 1;
    const action = this.#actions[this.count % this.#actions.length]!;
    this.done.push(await action());
  }

  async missing(): Promise<string[]> {
    const missing: string[] = [];
    for (const { what, holds } of this.done) if (!(await holds())) missing.push(what);
    return missing;
  }

  async #ask(method: string, path: string, body?: unknown): Promise<Reply['body']> {
    const response = await this.#gateway.admin(method, path, body);
    if (response.status >= 300)
      throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(response.body)}`);
    return response.body;
  }

  async #isAudited(action: string, target: string): Promise<boolean> {
    const { entries } = await this.#ask('GET', `/audit?action=${action}&target=${target}`);
    return entries.length === 1;
  }

  async #done(action: string, target: string, holds: () => Promise<boolean>): Promise<Done> {
    return {
      what: `${action} ${target}`,
      holds: async () => (await this.#isAudited(action, target)) && (await holds()),
    };
  }

  async #bannedKey(): Promise<string> {
    const { id } = await this.#gateway.key('10/day');
    await this.#ask('PUT', `/bans/${id}`, { duration: '1d', reason: 'a test' });
    return id;
  }

  async #isBanned(id: string): Promise<boolean> {
    return (await this.#ask('GET', `/usage/${id}`)).usage[0].banned !== null;
  }

  async #usedKey(): Promise<string> {
    const { id, key } = await this.#gateway.key('10/day');
    for (let i = 0; i < 3; i++) {
      await this.#gateway.ask(`${this.#gateway.url}/pets`, { headers: { 'X-API-Key': key } });
    }
    return id;
  }

  async key() {
    const { id } = await this.#gateway.key('10/day');
    return await this.#done(
      'keys.create',
      id,
      async () => (await this.#ask('GET', `/keys/${id}`)).id === id,
    );
  }

  async ban() {
    const id = await this.#bannedKey();
    return await this.#done('bans.add', id, () => this.#isBanned(id));
  }

  async lift() {
    const id = await this.#bannedKey();
    await this.#ask('DELETE', `/bans/${id}`);
    return await this.#done('bans.lift', id, async () => !(await this.#isBanned(id)));
  }

  async reset() {
    const id = await this.#usedKey();
    await this.#ask('POST', `/usage/${id}/reset`);
    return await this.#done('usage.reset', id, async () => (await this.#gateway.used(id)) === 0);
  }

  async grant() {
    const id = await this.#usedKey();
    await this.#ask('POST', `/usage/${id}/grant`, { units: 2 });
    return await this.#done('usage.grant', id, async () => (await this.#gateway.used(id)) <= 1);
  }

  async revoke() {
    const { id } = await this.#gateway.key('10/day');
    await this.#ask('DELETE', `/keys/${id}`);
    return await this.#done(
      'keys.revoke',
      id,
      async () => (await this.#ask('GET', `/keys/${id}`)).status === 'revoked',
    );
  }

  async token() {
    const name = `token-${this.count}`;
    await this.#ask('POST', '/tokens', { name, role: 'read' });
    return await this.#done('tokens.create', name, async () => {
      const { tokens } = await this.#ask('GET', '/tokens');
      return tokens.some((token: { name: string }) => token.name === name);
    });
  }

  async plan() {
    const name = `plan-${this.count}`;
    await this.#ask('PUT', `/plans/${name}`, { create: true, limits: '7/minute' });
    return await this.#done(
      'plans.set',
      name,
      async () => (await this.#ask('GET', `/plans/${name}`)).limits === '7/minute',
    );
  }
}
