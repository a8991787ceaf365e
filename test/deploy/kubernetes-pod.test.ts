import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { prometheusRule } from '../../scripts/prometheus-rule.ts';
import { environmentVariables } from '../../src/config/environment.ts';
import { loadConfig } from '../../src/config/load.ts';
import {
  type Deployment,
  EXAMPLE,
  type HttpRoute,
  type Ingress,
  kubernetes,
  type Labelled,
  type Monitor,
  manifests,
  manifestsOf,
  type Policy,
  type Service,
  specOf,
} from './kubernetes/manifests.ts';

const root = resolve(import.meta.dirname, '../..');
const read = (file: string) => readFileSync(join(root, file), 'utf8');

const deployment = specOf<Deployment>('Deployment');
const { metadata, spec: pod } = deployment.template;
const [gateway] = pod.containers;
const settings = loadConfig({
  cwd: join(kubernetes, EXAMPLE),
  env: { STOREGATE_CONFIG: 'gateway.yaml', STOREGATE_PLANS: 'plans.yaml' },
});
const shipped = loadConfig({ cwd: root, env: {} });

describe('the pod', () => {
  const mountAt = (path: string) => {
    const mount = gateway.volumeMounts.find(({ mountPath }) => mountPath === path)!;
    return { ...mount, volume: pod.volumes.find(({ name }) => name === mount.name)! };
  };
  const image = Object.fromEntries(
    [...read('Dockerfile').matchAll(/^(?:ENV| {4}) ?(STOREGATE_\w+)=(\S+)/gm)].map(
      ([, name, value]) => [name, value],
    ),
  );

  test('has the ports of the default settings', () => {
    expect(gateway.ports.map(({ containerPort }) => containerPort)).toEqual([
      shipped.listen.port,
      shipped.admin.port,
    ]);
  });

  test('sets known variables, and secrets as files of its Secret', () => {
    const existing = environmentVariables();
    expect(gateway.env.filter(({ name }) => !existing.has(name))).toEqual([]);
    expect(gateway.env.filter(({ name }) => existing.has(`${name}_FILE`))).toEqual([]);
    const files = gateway.env
      .filter(({ name }) => name.endsWith('_FILE'))
      .map(({ value }) => value);
    expect(files.length).toBeGreaterThan(1);
    for (const file of files) expect(mountAt(join(file, '..')).volume.secret).toBeDefined();
    const [, commands = ''] = read('docs/install.md').split('## Kubernetes\n');
    for (const file of files)
      expect(commands).toContain(`--from-file=${file.slice('/secrets/'.length)}`);
    expect(commands).toContain(
      `-- ${/^ENTRYPOINT \["(\w+)"\]$/m.exec(read('Dockerfile'))![1]} tokens create `,
    );
    expect(pod.enableServiceLinks).toBe(false);
  });

  test('mounts what the image expects, and writes to nothing else', () => {
    expect(mountAt(image.STOREGATE_DATA!).volume.emptyDir).toBeDefined();
    for (const file of [image.STOREGATE_CONFIG!, image.STOREGATE_PLANS!]) {
      expect(mountAt(join(file, '..'))).toMatchObject({
        readOnly: true,
        volume: { configMap: { name: 'storegate' } },
      });
      expect(existsSync(join(kubernetes, EXAMPLE, file.slice('/config/'.length)))).toBe(true);
    }
    expect(mountAt('/tmp').volume.emptyDir).toBeDefined();
    const writable = gateway.volumeMounts.filter(({ readOnly }) => !readOnly);
    expect(writable.map(({ mountPath }) => mountPath)).toEqual([image.STOREGATE_DATA, '/tmp']);
    expect(gateway.volumeMounts.map(({ name }) => name).sort()).toEqual(
      pod.volumes.map(({ name }) => name).sort(),
    );
  });

  test('meets the restricted standard, as the user of the image', () => {
    const [, user, group] = /^USER (\d+):(\d+)$/m.exec(read('Dockerfile'))!;
    expect(pod.securityContext).toEqual({
      runAsNonRoot: true,
      runAsUser: Number(user),
      runAsGroup: Number(group),
      fsGroup: Number(group),
      seccompProfile: { type: 'RuntimeDefault' },
    });
    expect(gateway.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
  });

  test('is killed only after http.drainDelay and http.drainTimeout', () => {
    const { drainDelay, drainTimeout } = settings.http;
    expect(drainDelay).toBeGreaterThan(0);
    expect(pod.terminationGracePeriodSeconds * 1_000).toBeGreaterThan(drainDelay + drainTimeout);
  });

  test('is found by every selector', () => {
    const selectors = [
      deployment.selector.matchLabels,
      ...['storegate', 'storegate-admin'].map((name) => specOf<Service>('Service', name).selector),
      ...['storegate', 'storegate-egress'].map(
        (name) => specOf<Policy>('NetworkPolicy', name).podSelector.matchLabels,
      ),
      specOf<{ selector: Labelled }>('PodDisruptionBudget').selector.matchLabels,
      ...pod.topologySpreadConstraints.map(({ labelSelector }) => labelSelector.matchLabels),
    ];
    expect(selectors).toHaveLength(8);
    for (const selector of selectors) expect(metadata.labels).toMatchObject(selector);
    const { scaleTargetRef, minReplicas } = specOf<{ scaleTargetRef: object; minReplicas: number }>(
      'HorizontalPodAutoscaler',
    );
    expect(scaleTargetRef).toEqual({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      name: 'storegate',
    });
    expect(minReplicas).toBeGreaterThanOrEqual(2);
    expect(deployment).not.toHaveProperty('replicas');
  });
});

describe('the network', () => {
  const portNamed = (name: string) => gateway.ports.filter((port) => port.name === name).length;

  test('has the admin port in a Service of its own', () => {
    const [open, admin] = [
      specOf<Service>('Service'),
      specOf<Service>('Service', 'storegate-admin'),
    ];
    expect(open.ports.map(({ targetPort }) => targetPort)).toEqual(['http']);
    expect(admin.ports.map(({ targetPort }) => targetPort)).toEqual(['admin']);
    expect(admin.clusterIP).toBe('None');
    expect([portNamed('http'), portNamed('admin')]).toEqual([1, 1]);
  });

  test('leads clients from outside to the API, never to the admin port', () => {
    const { rules } = specOf<Ingress>('Ingress');
    const routes = specOf<HttpRoute>('HTTPRoute').rules;
    const ports = [
      ...rules.flatMap(({ http }) => http.paths).map(({ backend }) => backend.service),
      ...routes.flatMap(({ backendRefs }) => backendRefs),
    ].map(({ name, port }) => {
      const { ports } = specOf<Service>('Service', name);
      return ports.find((one) => one.name === Object(port).name || one.port === port)!.targetPort;
    });
    expect(ports).toEqual(['http', 'http']);
    const hosts = [...rules.map(({ host }) => host), ...specOf<HttpRoute>('HTTPRoute').hostnames];
    expect(new Set(hosts).size).toBe(1);
  });

  test('lets only the namespace of the monitoring reach the admin port', () => {
    const { ingress } = specOf<Policy>('NetworkPolicy');
    expect(
      ingress.map(({ ports, from }) => [ports.map(({ port }) => port), from !== undefined]),
    ).toEqual([
      [['http'], false],
      [['admin'], true],
    ]);
  });

  test('lets the example reach DNS, Redis and its backend', () => {
    const { egress } = specOf<Policy>('NetworkPolicy', 'storegate-egress');
    const ports = egress.flatMap((rule) => rule.ports.map(({ port }) => port));
    const backends = settings.upstream.backends.map(({ url }) => Number(new URL(url).port));
    expect([...new Set(ports)]).toEqual([53, 6379, ...backends]);
  });
});

describe('the monitoring', () => {
  test('scrapes the admin Service as the job of the rules', () => {
    const { jobLabel, selector, endpoints } = specOf<Monitor>('ServiceMonitor');
    const selected = manifests().filter(
      ({ kind, metadata: { labels = {} } }) =>
        kind === 'Service' &&
        Object.entries(selector.matchLabels).every(([name, value]) => labels[name] === value),
    );
    expect(selected.map(({ metadata: { name } }) => name)).toEqual(['storegate-admin']);
    expect((selected[0]!.spec as Service).ports).toMatchObject(
      endpoints.map(({ port }) => ({ name: port })),
    );
    const [, job] = /job="(\w+)"/.exec(read('deploy/rules/alerts.yml'))!;
    expect(selected[0]!.metadata.labels![jobLabel]).toBe(job);
  });

  test('has the rules of deploy/rules (npm run generate writes them)', () => {
    expect(read('deploy/kubernetes/monitoring/prometheus-rule.yaml')).toBe(prometheusRule());
    const groups = ['recording', 'alerts'].flatMap(
      (name) => parse(read(`deploy/rules/${name}.yml`)).groups,
    );
    expect(manifestsOf('monitoring').get('prometheus-rule.yaml')!.spec).toEqual({ groups });
  });
});
