import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { loadContract } from '@storegate/openapi';
import { parse } from 'yaml';
import {
  type Deployment,
  EXAMPLE,
  filesIn,
  folders,
  kubernetes,
  kustomizationOf,
  listedIn,
  type Manifest,
  manifests,
  specOf,
} from './kubernetes/manifests.ts';

describe('the API of Kubernetes', () => {
  const api = loadContract(join(import.meta.dirname, 'kubernetes/api.json'));
  const faults = (manifest: Manifest) => {
    const { operation } = api.match('POST', `/${manifest.apiVersion}/${manifest.kind}`);
    return operation!.body!.media('application/json')!.check(Buffer.from(JSON.stringify(manifest)));
  };

  test.each(manifests().map((one) => [`${one.kind} ${one.metadata.name}`, one] as const))(
    'takes %s',
    (_name, manifest) => {
      expect(faults(manifest)).toEqual([]);
    },
  );

  test.each([
    ['misspelt', { volume: [] }, '/volume', 'additionalProperties'],
    ['wrong', { hostNetwork: 'no' }, '/hostNetwork', 'type'],
    ['missing', { containers: undefined }, '/containers', 'required'],
  ])('refuses a %s field', (_what, change, pointer, rule) => {
    const { template, ...others } = specOf<Deployment>('Deployment');
    const spec = { ...others, template: { ...template, spec: { ...template.spec, ...change } } };
    const found = faults({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'storegate' },
      spec,
    });
    expect(found[0]).toMatchObject({ pointer: `/spec/template/spec${pointer}`, rule });
  });

  test('reads YAML 1.1, in which every file has the same value', () => {
    for (const folder of folders) {
      for (const file of filesIn(folder)) {
        const text = readFileSync(join(kubernetes, folder, file), 'utf8');
        expect(parse(text, { version: '1.1' })).toEqual(parse(text));
      }
    }
  });
});

describe('kustomize', () => {
  test.each(folders)('uses every file of %s', (folder) => {
    const { configMapGenerator: maps = [] } = kustomizationOf(folder);
    const used = [...listedIn(folder), ...maps.flatMap(({ files }) => files), 'kustomization.yaml'];
    expect(used.sort()).toEqual(filesIn(folder).sort());
  });

  test('finds every folder', () => {
    const { resources, components } = kustomizationOf(EXAMPLE);
    const named = [...resources, ...components!].filter((name) => !name.endsWith('.yaml'));
    expect(named.map((name) => resolve(kubernetes, EXAMPLE, name)).sort()).toEqual(
      ['base', 'monitoring'].map((name) => join(kubernetes, name)),
    );
    const found = readdirSync(kubernetes, { recursive: true, encoding: 'utf8' }).filter((file) =>
      file.endsWith('kustomization.yaml'),
    );
    expect(found.sort()).toEqual(folders.map((folder) => join(folder, 'kustomization.yaml')));
  });

  test('replaces an image, a number of pods and a ConfigMap that exist', () => {
    const { images, patches, configMapGenerator } = kustomizationOf(EXAMPLE);
    const { spec: pod } = specOf<Deployment>('Deployment').template;
    expect(images!.map(({ name }) => name)).toEqual([pod.containers[0].image]);
    const maps = pod.volumes.flatMap(({ configMap }) => configMap ?? []);
    expect(configMapGenerator!.map(({ name }) => ({ name }))).toEqual(maps);
    for (const { target, patch } of patches!) {
      const spec = specOf<Record<string, unknown>>(target.kind);
      for (const { op, path } of parse(patch) as { op: string; path: string }[]) {
        expect(op).toBe('replace');
        expect(spec).toHaveProperty(path.replace('/spec/', '').split('/'));
      }
    }
  });

  test('keeps the name of the ConfigMap, so that a change is a reload and not a restart', () => {
    for (const { options } of kustomizationOf(EXAMPLE).configMapGenerator!)
      expect(options?.disableNameSuffixHash).toBe(true);
  });
});
