export { type Assets, loadAssets } from './assets.ts';
export {
  type Content,
  createContent,
  type Page,
  type RequestFields as Asked,
} from './content.ts';
export { entityTag, hasTag } from './entity-tag.ts';
export { type Html, html, withCode } from './html.ts';
export { createSite, type FindPage } from './site.ts';
