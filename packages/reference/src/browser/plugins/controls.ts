import {
  type Component,
  h,
  type ImmutableMap,
  type Plugin,
  type Rendered,
  system,
} from '../swagger-ui.ts';

// Swagger UI warns about missing types and formats. Text keeps every digit.
const asText: Component = (props) => h(system.getComponent('JsonSchema_string'), props);

export const controls: Plugin = {
  components: { JsonSchema_integer_int32: asText, JsonSchema_integer_int64: asText },
  wrapComponents: {
    TextArea: (Original) => (props) =>
      h(Original, { 'aria-label': 'Request body', spellCheck: false, ...props }),
    JsonSchemaForm: (Original) => (props) => {
      const { description } = props;
      return typeof description === 'string'
        ? named(description, h(Original, props))
        : h(Original, props);
    },
    ExamplesSelect: (Original) => (props) => named('Example', h(Original, props)),
    /** Optional parameters start empty: a request with every example at once finds nothing. */
    parameterRow: (Original) => (props) => {
      const required = (props.rawParam as ImmutableMap).get('required') === true;
      return h(
        Original,
        required ? props : { ...props, specSelectors: withoutExamples(props.specSelectors) },
      );
    },
  },
};

/**
 * Names the controls of a part. React calls the new function after each rendering: arrays add
 * inputs.
 */
function named(name: string, part: Rendered): Rendered {
  return h(
    'div',
    { ref: (element: Element | null) => void (element && nameControls(element, name)) },
    part,
  );
}

function nameControls(element: Element, name: string): void {
  for (const control of element.querySelectorAll('input, select, textarea'))
    control.setAttribute('aria-label', name);
  for (const button of element.querySelectorAll('.json-schema-form-item-remove')) {
    button.setAttribute('aria-label', `Remove from ${name}`);
  }
}

interface Parameters {
  parameterWithMetaByIdentity(...place: unknown[]): ImmutableMap | undefined;
}

function withoutExamples(specSelectors: unknown): Parameters {
  const selectors = specSelectors as Parameters;
  return {
    ...selectors,
    parameterWithMetaByIdentity: (...place) =>
      selectors
        .parameterWithMetaByIdentity(...place)
        ?.deleteIn(['example'])
        .deleteIn(['examples'])
        .deleteIn(['schema', 'example'])
        .deleteIn(['schema', 'default']),
  };
}
