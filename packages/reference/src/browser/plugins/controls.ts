import type { ImmutableMap, Plugin, Props, Rendered, System } from '../swagger-ui.ts';

export const controls: Plugin = (system) => ({
  components: {
    // Swagger UI warns about missing types and formats. Text keeps every digit.
    JsonSchema_integer_int32: (props) => asText(props, system),
    JsonSchema_integer_int64: (props) => asText(props, system),
  },
  wrapComponents: {
    TextArea: (Original, system) => (props) =>
      system.React.createElement(Original, { 'aria-label': 'Request body', spellCheck: false, ...props }),
    JsonSchemaForm: (Original, system) => (props) => {
      const { createElement: h } = system.React;
      const { description } = props;
      if (typeof description !== 'string') return h(Original, props);
      // A new function for each rendering, so that React calls it each time: arrays add inputs.
      const ref = (element: Element | null) => void (element && nameControls(element, description));
      return h('div', { ref }, h(Original, props));
    },
    ExamplesSelect: (Original, system) => (props) => {
      const ref = (element: Element | null) => void (element && nameControls(element, 'Example'));
      return system.React.createElement('div', { ref }, system.React.createElement(Original, props));
    },
    /** Optional parameters start empty: a request with every example at once finds nothing. */
    parameterRow: (Original, system) => (props) => {
      const { createElement: h } = system.React;
      const required = (props.rawParam as ImmutableMap).get('required') === true;
      return h(Original, required ? props : { ...props, specSelectors: withoutExamples(props.specSelectors) });
    },
  },
});

function asText(props: Props, system: System): Rendered {
  return system.React.createElement(system.getComponent('JsonSchema_string'), props);
}

function nameControls(element: Element, name: string): void {
  for (const control of element.querySelectorAll('input, select, textarea')) control.setAttribute('aria-label', name);
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
