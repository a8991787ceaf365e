import { operationAt } from '../contract.ts';
import {
  type Component,
  type GetComponent,
  h,
  type ImmutableMap,
  type Plugin,
  type Props,
  type Rendered,
  system,
} from '../swagger-ui.ts';

export const tryIt: Plugin = {
  components: {
    TryItOutButton: ({ enabled, onTryoutClick, onCancelClick }) => {
      const button = enabled
        ? h('button', { type: 'button', className: 'quiet', onClick: onCancelClick }, 'Cancel')
        : h('button', { type: 'button', className: 'try', onClick: onTryoutClick }, 'Try it');
      return h('div', { className: 'try-out' }, button);
    },
    authorizeOperationBtn: nothing,
  },
  wrapComponents: {
    parameters: (Original) => (props) => {
      const [path, method] = props.pathMethod as [string, string];
      return h(Original, canBeTried(path, method) ? props : onlyToRead(props));
    },
    response: (Original) => (props) => {
      const own = canBeTried(props.path, props.method)
        ? props
        : { ...onlyToRead(props), controlsAcceptHeader: false };
      return h(Original, own);
    },
  },
  statePlugins: {
    spec: {
      wrapSelectors: {
        allowTryItOutFor: (original) => (state, path, method) =>
          canBeTried(path, method) && original(state, path!, method!),
      },
    },
  },
};

function canBeTried(path: unknown, method: unknown): boolean {
  return operationAt(path, method)?.['x-try-it'] !== false;
}

function nothing(): null {
  return null;
}

/** Omits controls that only fill in a request. A single media type becomes text. */
const PARTS_TO_READ: Readonly<Record<string, Component>> = {
  JsonSchemaForm: nothing,
  ExamplesSelectValueRetainer: nothing,
  contentType: mediaType,
};

function onlyToRead(props: Props): Props {
  const original = props.getComponent as GetComponent;
  const getComponent: GetComponent = (name, connected) =>
    PARTS_TO_READ[name] ?? original(name, connected);
  return { ...props, getComponent };
}

function mediaType(props: Props): Rendered {
  const { value, onChange } = props as { value?: unknown; onChange?: (type: unknown) => void };
  const types = (props.contentTypes as ImmutableMap).toJS() as readonly string[];
  const [first] = types;
  // Swagger UI's own control selects the first type; the example beside it belongs to the selected
  // type.
  system.React.useEffect(() => {
    if (types.length === 1 && value !== first) onChange?.(first);
  });
  return types.length === 1
    ? h('code', { className: 'content-type' }, first)
    : h(system.getComponent('contentType'), props);
}
