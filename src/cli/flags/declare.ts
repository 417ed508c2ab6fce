import * as Flags from '@oclif/core/flags';
import type { NameKind } from '../../core/names/namerows.ts';

/** What the text of a flag is made into before a command reads it: a date, or the id of what has a name (D55). */
export type Meaning = 'date' | NameKind;

/** Properties of a flag that few have (oclif). */
interface More {
  readonly means?: Meaning;
  readonly options?: readonly string[];
  readonly default?: string;
  readonly required?: boolean;
  readonly exclusive?: string[];
  readonly dependsOn?: string[];
  readonly aliases?: string[];
  readonly description?: string;
}

/** Declares the flags of one group of the help; of the first where it has no name. */
export function flagGroup(name?: string) {
  const common = (summary: string, helpValue?: string) => ({
    ...(name !== undefined && { helpGroup: name }),
    ...(helpValue !== undefined && { helpValue }),
    summary,
  });
  return {
    /** A flag with a value, which the help calls `helpValue`. */
    text: (helpValue: string | undefined, summary: string, more: More = {}) =>
      Flags.string({ ...common(summary, helpValue), ...more }),
    /** A flag whose value is a whole number (`wholeNumber` reads it): the configuration file of a server has it as one. */
    whole: (unit: string, summary: string) => ({ ...Flags.string(common(summary, unit)), whole: true as const }),
    /** A flag with a value, given as often as there are values. */
    list: (helpValue: string | undefined, summary: string, more: Omit<More, 'default'> = {}) =>
      Flags.string({ ...common(summary, helpValue), ...more, multiple: true, multipleNonGreedy: true }),
    /** A flag that is given or not. */
    toggle: (summary: string) => Flags.boolean(common(summary)),
  };
}
