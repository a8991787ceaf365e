import { chownSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parse } from 'yaml';
import { program } from '../runner/programs.ts';
import { until } from '../support/until.ts';
import type { Container, ContainerOptions, Network } from './containers.ts';
import type { Image } from './image.ts';

interface Service {
  readonly build?: string;
  readonly image?: string;
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumes?: readonly string[];
  readonly secrets?: readonly string[];
  readonly networks?: { readonly default: { readonly ipv4_address: string } };
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly healthcheck?: { readonly test: readonly string[] };
}

interface Other {
  readonly program: 'redis-server' | 'haproxy';
  readonly folder: string;
  readonly options: readonly string[];
}

/**
 * Other images: the program of this machine, with the working directory and the options that the
 * image adds.
 */
const OTHERS: Readonly<Record<string, Other>> = {
  redis: { program: 'redis-server', folder: '/data', options: ['--protected-mode', 'no'] },
  haproxy: { program: 'haproxy', folder: '/', options: [] },
};

/**
 * Starts services of docker-compose.yml with their commands, variables, volumes, secrets and
 * addresses, in the order of their dependencies, as far as their programs are on this machine.
 */
export class Compose {
  readonly #services: Readonly<Record<string, Service>>;
  readonly #image: Image;
  readonly #network: Network;
  readonly #folder: string;
  readonly #containers = new Map<string, Container>();

  /** @param folder for volumes and secrets; @param secrets by name */
  constructor(
    image: Image,
    network: Network,
    folder: string,
    secrets: Readonly<Record<string, string>>,
  ) {
    const file = resolve(import.meta.dirname, '../../docker-compose.yml');
    this.#services = parse(readFileSync(file, 'utf8'), { merge: true }).services;
    this.#image = image;
    this.#network = network;
    this.#folder = folder;
    for (const [name, secret] of Object.entries(secrets))
      writeFileSync(join(folder, name), secret, { mode: 0o444 });
  }

  get(name: string): Container {
    return this.#containers.get(name)!;
  }

  /** Starts what it depends on first, and waits until it is healthy. */
  async up(name: string): Promise<Container> {
    const service = this.#services[name]!;
    for (const [other, { condition }] of Object.entries(service.depends_on ?? {})) {
      if (!this.#containers.has(other)) await this.up(other);
      if (condition === 'service_healthy') await this.untilHealthy(other);
    }
    const container = await this.#network.start(this.#options(name, service));
    this.#containers.set(name, container);
    return container;
  }

  async untilHealthy(name: string): Promise<void> {
    const [, ...check] = this.#services[name]!.healthcheck?.test ?? [
      'CMD',
      ...this.#image.healthcheck,
    ];
    const container = this.get(name);
    await until(
      `${name} is healthy`,
      () => container.isRunning() && container.run(check).status === 0,
    );
  }

  #options(name: string, service: Service): ContainerOptions {
    const { volumes = [], secrets = [], environment = {}, command, networks } = service;
    const mounts = Object.fromEntries([
      ...volumes.map((volume) => this.#mount(volume)),
      ...secrets.map((secret) => [`/run/secrets/${secret}`, join(this.#folder, secret)]),
    ]);
    const address = networks && { address: networks.default.ipv4_address };
    if (service.build !== undefined) {
      const { tree, env, entrypoint, user, folder } = this.#image;
      const own = [...entrypoint, ...(command ?? this.#image.command)];
      return {
        name,
        tree,
        env: { ...env, ...environment },
        command: own,
        user,
        folder,
        mounts,
        ...address,
      };
    }
    const other = OTHERS[service.image!.split(':')[0]!]!;
    const { [other.folder]: folder = '/', ...files } = mounts;
    const own = [program(other.program), ...command!.slice(1), ...other.options];
    const env = { PATH: process.env.PATH!, ...environment };
    return { name, tree: null, env, command: own, user: 0, folder, mounts: files, ...address };
  }

  /** A new named volume has the content of its place in the image. */
  #mount(volume: string): readonly [place: string, source: string] {
    const [source, place] = volume.split(':') as [string, string];
    if (source.startsWith('.')) return [place, resolve(import.meta.dirname, '../..', source)];
    const folder = join(this.#folder, source);
    if (mkdirSync(folder, { recursive: true }) !== undefined) {
      const { tree, user } = this.#image;
      cpSync(join(tree, place), folder, { recursive: true });
      chownSync(folder, user, user);
    }
    return [place, folder];
  }
}
