import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { parseDuration } from '../../src/config/units.ts';

const project = resolve(import.meta.dirname, '../..');
const textOf = (file: string) => readFileSync(resolve(project, file), 'utf8');

interface Service {
  readonly build?: string;
  readonly ports?: readonly string[];
  readonly read_only?: boolean;
  readonly tmpfs?: readonly string[];
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly volumes: readonly string[];
  readonly stop_grace_period?: string;
}
const compose = parse(textOf('docker-compose.yml'), { merge: true }) as {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, null>>;
};
const gateways = Object.entries(compose.services).filter(([name]) => name.startsWith('gateway-'));

test('a gateway of the compose file has a stop timeout above its request timeouts', () => {
  const { http } = parse(textOf('config/gateway.yaml')) as {
    http: Record<'drainDelay' | 'drainTimeout', string>;
  };
  const drain = parseDuration(http.drainDelay)! + parseDuration(http.drainTimeout)!;
  expect(gateways).toHaveLength(2);
  for (const [, { stop_grace_period: grace }] of gateways)
    expect(parseDuration(grace!)).toBeGreaterThan(drain);
});

test('each gateway of the compose file has a named volume of its own for its data', () => {
  const data = gateways.flatMap(([, { volumes }]) =>
    volumes.filter((volume) => volume.endsWith(':/data')),
  );
  const names = data.map((volume) => volume.split(':')[0]!);
  expect(new Set(names).size).toBe(gateways.length);
  for (const name of names) expect(Object.keys(compose.volumes)).toContain(name);
});

test('each container of the image writes to its volumes and /tmp only, and has no capabilities', () => {
  const own = Object.values(compose.services).filter(({ build }) => build !== undefined);
  expect(own).toHaveLength(3);
  for (const service of own) {
    expect(service).toMatchObject({
      read_only: true,
      tmpfs: ['/tmp'],
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
    });
  }
});

test('no port of a gateway is published: clients come through the balancer, operators through exec', () => {
  for (const [, { ports }] of gateways) expect(ports).toBeUndefined();
  const published = Object.values(compose.services).flatMap(({ ports = [] }) => ports);
  const inside = published.map((port) => port.slice(port.lastIndexOf(':') + 1));
  expect(inside.toSorted()).toEqual(['3000', '8080', '9090']);
});

test('the image has its user by number', () => {
  expect(textOf('Dockerfile')).toMatch(/^USER [1-9]\d*:[1-9]\d*$/m);
});

test('an installation sends no telemetry', () => {
  expect(textOf('package-lock.json')).not.toContain('@scarf');
});
