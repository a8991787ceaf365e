import { flatten, schemaOf } from '../src/config/schema/schema.ts';
import { nameIn, type Schema } from './schema.ts';
import { typeText } from './type-text.ts';

const root = schemaOf('gateway');

/** The TypeScript type of the settings of gateway.yaml, after their conversion. */
export function configType(): string {
  const shared = new Map<string, string>();

  function typeOf(reference: Schema, indent: string): string {
    const schema = flatten(reference, root);
    const { properties, enum: values, type, 'x-unit': unit } = schema;
    const types = [type].flat();
    const orNull = types.includes('null') ? ' | null' : '';
    if (unit !== undefined) return `Unit<'${unit}'>${orNull}`;
    const definition = reference.$ref ?? reference.allOf?.[0]?.$ref;
    if (definition !== undefined && (properties ?? values) !== undefined)
      return sharedType(nameIn(definition));
    // Reading turns an absent map or list into an empty one.
    const isMany = types.includes('object') || types.includes('array');
    return plainType(schema, indent) + (isMany ? '' : orNull);
  }

  function sharedType(definition: string): string {
    const name = definition.replace(/^./, (first) => first.toUpperCase());
    if (!shared.has(name))
      shared.set(name, `type ${name} = ${typeOf(root.definitions![definition]!, '')};\n`);
    return name;
  }

  function plainType(schema: Schema, indent: string): string {
    const { properties = {}, required = [] } = schema;
    return typeText(schema, indent, typeOf, (inner) =>
      Object.entries(properties).map(([key, schema]) => {
        // Its entries have the types of sections: src/config/apis.ts.
        if (key === 'apis') return `readonly ${key}: readonly unknown[]`;
        const { default: usual, properties: section } = flatten(schema, root);
        const mayLack = usual === undefined && section === undefined && !required.includes(key);
        return `readonly ${key}: ${typeOf(schema, inner)}${mayLack ? ' | null' : ''}`;
      }),
    );
  }

  const settings = `export interface GatewaySettings ${plainType(root, '')}\n`;
  return [
    '// Written by `npm run generate` from config/gateway.schema.json, which explains every setting.',
    "import type { Unit } from './conversions.ts';\n",
    ...shared.values(),
    settings,
  ].join('\n');
}
