import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { parse, stringify } from 'yaml';
import { promtool } from './promtool.ts';
import { dashboard, dashboardExpressions, panels, root } from './shipped.ts';

/** Panel types that come with Grafana and are not deprecated. */
const PANEL_TYPES = ['stat', 'table', 'timeseries', 'state-timeline'];

describe('the dashboard', () => {
  test('has its rows in the order of an investigation', () => {
    const rows = dashboard.panels.filter(({ type }) => type === 'row').map(({ title }) => title);
    expect(rows).toEqual([
      'Health',
      'What do clients get?',
      'How fast?',
      'The backends',
      'The state',
      'The process',
    ]);
  });

  test('gives each panel its own place', () => {
    const taken = new Map<string, string>();
    for (const { title, gridPos } of dashboard.panels) {
      expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++) {
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
          expect([title, taken.get(`${x},${y}`)]).toEqual([title, undefined]);
          taken.set(`${x},${y}`, title);
        }
      }
    }
    expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
  });

  test('lets viewers choose the data source and the gateways', () => {
    expect(dashboard.templating.list.map(({ name, type }) => [name, type])).toEqual([
      ['datasource', 'datasource'],
      ['instance', 'query'],
    ]);
  });
});

describe.each(panels)(
  'the panel "$title"',
  ({ type, description, datasource, targets = [], fieldConfig }) => {
    test('is built into Grafana, has a description of one sentence, and a unit', () => {
      expect(PANEL_TYPES).toContain(type);
      expect(description).toMatch(/^[A-Z][^.]+(\.\w[^.]*)*\.$/);
      expect(fieldConfig?.defaults.unit).toEqual(expect.any(String));
    });

    test('queries the chosen data source and gateways, and names its series', () => {
      expect(targets).not.toEqual([]);
      const requested = [datasource, ...targets.map((target) => target.datasource)].map(
        (one) => one?.uid,
      );
      // biome-ignore lint/suspicious/noTemplateCurlyInString: Grafana puts the value in.
      expect(new Set(requested)).toEqual(new Set(['${datasource}']));
      for (const { expr, legendFormat } of targets) {
        expect(legendFormat).not.toBe('');
        if (!expr.includes('ALERTS'))
          expect(expr.match(/instance=~"\$instance"/g)?.length).toBe(selectorsIn(expr));
      }
    });
  },
);

function selectorsIn(expr: string): number {
  return expr.split('{').length - 1;
}

describe('promtool', () => {
  test('accepts every expression of the dashboard', () => {
    const rules = dashboardExpressions.map(([, expr], i) => ({ record: `panel:${i}`, expr }));
    expect(rules.length).toBeGreaterThan(30);
    const folder = mkdtempSync(join(tmpdir(), 'prometheus-'));
    const file = join(folder, 'expressions.yml');
    writeFileSync(file, stringify({ groups: [{ name: 'dashboard', rules }] }));
    expect(promtool('check', 'rules', file)).toContain(`${rules.length} rules found`);
    rmSync(folder, { recursive: true });
  });
});

describe('the compose file', () => {
  const { services } = parse(readFileSync(join(root, 'docker-compose.yml'), 'utf8')) as {
    services: Record<
      string,
      { ports?: string[]; volumes?: string[]; environment?: Record<string, string> }
    >;
  };

  test('shows dashboard and alerts on this machine only, without a login', () => {
    for (const name of ['grafana', 'prometheus']) {
      for (const port of services[name]?.ports ?? ['none']) expect(port).toMatch(/^127\.0\.0\.1:/);
    }
    expect(services.grafana?.environment).toMatchObject({
      GF_SECURITY_DISABLE_INITIAL_ADMIN_CREATION: 'true',
      GF_AUTH_BASIC_ENABLED: 'false',
      GF_AUTH_ANONYMOUS_ORG_ROLE: 'Viewer',
    });
  });

  test('mounts existing files', () => {
    const mounted = ['grafana', 'prometheus'].flatMap((name) => services[name]?.volumes ?? []);
    const ours = mounted
      .map((volume) => volume.split(':')[0]!)
      .filter((path) => path.startsWith('./'));
    expect(ours).toContain('./deploy/rules');
    for (const path of ours) expect(() => readFileSync(join(root, path))).not.toThrow(/ENOENT/);
  });
});
