import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { changedTags, contradiction, isChanged, tagsOf } from '../../../src/core/documents/tags.ts';

describe('a change of tags', () => {
  it.each<[string[], string[], string[], string[]]>([
    [['X-Ray', 'New'], ['Reviewed'], ['new'], ['X-Ray', 'Reviewed']],
    [['X-Ray'], ['x-ray', 'X-RAY'], [], ['X-Ray']],
    [[], ['b', 'a', 'B'], [], ['b', 'a']],
    [['a'], [], ['a', 'z'], []],
    [['e\u0301'], [' \u00c9 '], [], ['e\u0301']],
    [['b', 'a'], [], [], ['b', 'a']],
  ])('%j with %j and without %j are %j', (tags, add, remove, expected) => {
    expect(changedTags(tags, { add, remove })).toEqual(expected);
  });

  it('is there once it is made, and making it again changes nothing', () => {
    const names = fc.array(fc.constantFrom('a', 'A', 'b', 'c', 'D'), { maxLength: 4 });
    fc.assert(
      fc.property(names, names, names, (tags, add, remove) => {
        fc.pre(contradiction({ add, remove }) === undefined);
        const made = changedTags(tags, { add, remove });
        expect(isChanged(made, { add, remove })).toBe(true);
        expect(changedTags(made, { add, remove })).toEqual(made);
        const untouched = (tag: string) => !remove.some((gone) => gone.toLowerCase() === tag.toLowerCase());
        expect(made.slice(0, tags.filter(untouched).length)).toEqual(tags.filter(untouched));
      }),
    );
  });

  it('may contradict itself', () => {
    expect(contradiction({ add: ['a', 'B'], remove: ['b'] })).toBe('B');
    expect(contradiction({ add: ['a'], remove: ['b'] })).toBeUndefined();
  });

  it('reads tags only where there are some', () => {
    expect([tagsOf({ tags: ['a', 5] }), tagsOf({ tags: null }), tagsOf({})]).toEqual([['a'], [], []]);
  });
});
