import { flatten, type Schema, schemaOf } from '../src/config/schema/schema.ts';
import { listText, objectText } from './type-text.ts';

const root = schemaOf('gateway');

/** The TypeScript type of the settings of gateway.yaml, after their conversion. */
export function configType(): string {
  const shared = new Map<string, string>();

  function typeOf(reference: Schema, indent: string): string {
    const schema = flatten(reference, root);
    const {
      additionalProperties: entries,
      enum: words,
      items,
      properties,
      type,
      'x-unit': unit,
    } = schema;
    const orNull = [type].flat().includes('null') ? ' | null' : '';
    if (unit !== undefined) return `Unit<'${unit}'>${orNull}`;
    const definition = (reference.$ref ?? reference.allOf?.[0]?.$ref)?.replace(
      '#/definitions/',
      '',
    );
    if (definition !== undefined && (properties !== undefined || words !== undefined))
      return sharedType(definition);
    if (properties !== undefined) return sectionOf(schema, indent);
    if (typeof entries === 'object') return `Readonly<Record<string, ${typeOf(entries, indent)}>>`;
    if (items !== undefined) return listText(typeOf(items, indent));
    return (words?.map((word) => `'${word}'`).join(' | ') ?? plainTypes(schema)) + orNull;
  }

  function sharedType(definition: string): string {
    const name = definition.replace(/^./, (first) => first.toUpperCase());
    if (!shared.has(name))
      shared.set(name, `type ${name} = ${typeOf(root.definitions![definition]!, '')};\n`);
    return name;
  }

  function sectionOf({ properties = {}, required = [] }: Schema, indent: string): string {
    const members = Object.entries(properties).map(([key, schema]) => {
      // Its entries have the types of sections: src/config/apis.ts.
      if (key === 'apis') return `readonly ${key}: readonly unknown[]`;
      const { default: usual, properties: section } = flatten(schema, root);
      const mayLack = usual === undefined && section === undefined && !required.includes(key);
      return `readonly ${key}: ${typeOf(schema, `${indent}  `)}${mayLack ? ' | null' : ''}`;
    });
    return objectText(members, indent);
  }

  const settings = `export interface GatewaySettings ${sectionOf(root, '')}\n`;
  return [
    '// Written by `npm run generate` from config/gateway.schema.json, which explains every setting.',
    "import type { Unit } from './conversions.ts';\n",
    ...shared.values(),
    settings,
  ].join('\n');
}

function plainTypes({ type, pattern = '' }: Schema): string {
  const [, word] = /^\^(\w+)\$$/.exec(pattern) ?? [];
  const types = [type ?? []].flat().map((name) => {
    if (name === 'integer') return 'number';
    return name === 'string' && word !== undefined ? `'${word}'` : name;
  });
  return types.filter((name) => name !== 'null').join(' | ');
}
