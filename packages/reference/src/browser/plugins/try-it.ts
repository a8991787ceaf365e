import { operationAt } from '../contract.ts';
import type { Component, GetComponent, ImmutableMap, Plugin, Props, Rendered, System } from '../swagger-ui.ts';

export const tryIt: Plugin = (system) => {
  const onlyToRead = partsToRead(system);
  return {
    components: {
      TryItOutButton: ({ enabled, onTryoutClick, onCancelClick }) => {
        const { createElement: h } = system.React;
        const button = enabled
          ? h('button', { type: 'button', className: 'quiet', onClick: onCancelClick }, 'Cancel')
          : h('button', { type: 'button', className: 'try', onClick: onTryoutClick }, 'Try it');
        return h('div', { className: 'try-out' }, button);
      },
      authorizeOperationBtn: () => null,
    },
    wrapComponents: {
      parameters: (Original, system) => (props) => {
        const [path, method] = props.pathMethod as [string, string];
        const own = canBeTried(system, path, method) ? props : { ...props, getComponent: onlyToRead(props) };
        return system.React.createElement(Original, own);
      },
      response: (Original, system) => (props) => {
        const own = canBeTried(system, String(props.path), String(props.method))
          ? props
          : { ...props, getComponent: onlyToRead(props), controlsAcceptHeader: false };
        return system.React.createElement(Original, own);
      },
    },
    statePlugins: {
      spec: {
        wrapSelectors: {
          allowTryItOutFor: (original, system) => (state, path, method) =>
            canBeTried(system, path!, method!) && original(state, path!, method!),
        },
      },
    },
  };
};

function canBeTried(system: System, path: string, method: string): boolean {
  return operationAt(system, path, method)?.['x-try-it'] !== false;
}

/** Omits controls that only fill in a request. A single media type becomes text. */
function partsToRead(system: System): (props: Props) => GetComponent {
  const nothing = () => null;
  const parts: Readonly<Record<string, Component>> = {
    JsonSchemaForm: nothing,
    ExamplesSelectValueRetainer: nothing,
    contentType: (props) => mediaType(props, system),
  };
  return (props) => (name, connected) => parts[name] ?? (props.getComponent as GetComponent)(name, connected);
}

function mediaType(props: Props, system: System): Rendered {
  const { createElement: h, useEffect } = system.React;
  const { value, onChange } = props as { value?: unknown; onChange?: (type: unknown) => void };
  const types = (props.contentTypes as ImmutableMap).toJS() as readonly string[];
  const [first] = types;
  // Swagger UI's own control selects the first type; the example beside it belongs to the selected type.
  useEffect(() => {
    if (types.length === 1 && value !== first) onChange?.(first);
  });
  return types.length === 1
    ? h('code', { className: 'content-type' }, first)
    : h(system.getComponent('contentType'), props);
}
