import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { stringify } from 'yaml';
import { anchorOf } from '../support/headings.ts';
import { temporaryFolders } from '../support/temporary.ts';
import { alertTests, promtoolInput } from './alert-tests.ts';
import { promtool } from './promtool.ts';
import { alerts, root, ruleFiles, writeRules } from './shipped.ts';

/** Writes the tests of a file, with the rules that they name, for promtool. */
function writeTests(folder: string, tests: (typeof alertTests)[number]): string {
  const names = tests.tests.flatMap((one) => Object.keys(one.alerts));
  const named = alerts.filter(({ alert }) => names.includes(alert)).map(({ expr }) => expr);
  // A test may also read a recording itself.
  const rule_files = writeRules(folder, [...named, JSON.stringify(tests)]);
  const path = join(folder, tests.file);
  writeFileSync(path, stringify({ ...promtoolInput(tests), rule_files }));
  return path;
}

const firingOf = (alert: string) =>
  alertTests.flatMap(({ tests }) => tests.flatMap((one) => Object.values(one.alerts[alert] ?? {})));

const temporary = temporaryFolders();

describe('promtool', () => {
  test('accepts the configuration and the rules that it loads', () => {
    const folder = temporary();
    cpSync(join(root, 'deploy'), folder, { recursive: true });
    const config = join(folder, 'prometheus.yml');
    const token = join(folder, 'token');
    writeFileSync(token, 'any');
    const page = readFileSync(join(root, 'docs/monitoring.md'), 'utf8');
    const [, named] = /credentials_file: (\S+) \}/.exec(page)!;
    const text = readFileSync(config, 'utf8');
    // The file of the token is that of the page.
    expect(text).toContain(`credentials_file: ${named}\n`);
    writeFileSync(config, text.replace(named!, token));
    const said = promtool('check', 'config', config);
    for (const file of ruleFiles) expect(said).toContain(basename(file));
  });

  test('finds no problem in the rules', () => {
    promtool('check', 'rules', '--lint=all', '--lint-fatal', ...ruleFiles);
  });

  test.each(alertTests)('sees the alerts fire and be silent: $file', (tests) => {
    promtool('test', 'rules', writeTests(temporary(), tests));
  });
});

describe.each(alerts)('$alert', ({ alert, for: held, labels, annotations }) => {
  const expected = firingOf(alert);

  test('has a test in which it fires, and one in which it does not', () => {
    expect(expected.flat()).not.toEqual([]);
    expect(expected.some(({ length }) => length === 0)).toBe(true);
  });

  test('waits, has a severity, and says what it means', () => {
    expect(held).toMatch(/^\d+[mh]$/);
    expect(['critical', 'warning', 'info']).toContain(labels.severity);
    expect(annotations.summary).toMatch(/\.$/);
    expect(annotations.condition).toMatch(/^[^{]{20,}\.$/);
    expect(annotations.description).toMatch(/^.{60,}\.$/);
  });

  test('names the section of a page that says what to do, and that names the alert', () => {
    const [page, anchor] = annotations.runbook!.split('#');
    const sections = readFileSync(join(root, page!), 'utf8').split(/^#+ /m).slice(1);
    const section = sections.find((text) => anchorOf(text.split('\n')[0]!) === anchor);
    expect(section).toContain(`\`${alert}\``);
  });

  test('names only labels that it has when it fires', () => {
    const texts = Object.values(annotations).join();
    const named = [...texts.matchAll(/\$labels\.(\w+)/g)].map(([, label]) => label!);
    for (const labels of expected.flat())
      expect(named.filter((label) => label !== 'job' && !(label in labels))).toEqual([]);
  });
});
