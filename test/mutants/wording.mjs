import { declareValuePlugin, PluginKind } from '@stryker-mutator/api/plugin';

/** Texts for people have a space in them; codes, names and values that programs read have none. */
const isWording = (text) => /\S \S/.test(text);

/**
 * Leaves out what only changes a wording: a test that repeats every sentence finds no defect. Stryker asks about each
 * node before it changes it.
 */
const wording = {
  shouldIgnore({ node }) {
    const text =
      node.type === 'StringLiteral'
        ? node.value
        : node.type === 'TemplateLiteral'
          ? node.quasis.map(({ value }) => value.raw).join('x')
          : '';
    return isWording(text) ? 'Only the wording would change.' : undefined;
  },
};

export const strykerPlugins = [declareValuePlugin(PluginKind.Ignore, 'wording', wording)];
