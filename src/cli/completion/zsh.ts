import { quote, wordsOf } from './bash.ts';
import type { Candidate, Completion, ValueGroup } from './model.ts';

/** The completion script for zsh: sourced, or kept as `_molar` in a folder of $fpath. */
export function zshScript({ next, flags, flagValues, arguments: args }: Completion): string {
  return `#compdef molar
# zsh completion for molar. In ~/.zshrc, after compinit: source <(molar autocomplete zsh)

# Words that may follow the command words in $1, with what they are for.
_molar_next() {
  case "$1" in
${next.map(({ path, words }) => branch([quote(path)], `_molar_words=(${described(words)})`)).join('\n')}
    (*) _molar_words=() ;;
  esac
}

# Flags of the command in $1.
_molar_flags() {
  _molar_words=()
${flags
  .map(
    (group) => `  case "$1" in
${branch(group.paths.map(quote), `_molar_words+=(${described(group.flags)})`)}
  esac`,
  )
  .join('\n')}
}

# What is typed after the flag $2 of the command $1: its kind and words. Fails for a flag without a value.
_molar_values() {
  case "$1 $2" in
${flagValues.map(valueBranch).join('\n')}
    (*) return 1 ;;
  esac
}

# What the command $1 takes as arguments.
_molar_arguments() {
  case "$1" in
${args.map(valueBranch).join('\n')}
    (*) _molar_kind=any _molar_words=() ;;
  esac
}

${ENGINE}`;
}

/** Words for `_describe`, where a colon parts word and description. */
function described(candidates: readonly Candidate[]): string {
  return candidates
    .map(({ word, about }) => quote(`${word.replaceAll(':', '\\:')}${about === '' ? '' : `:${about}`}`))
    .join(' ');
}

function valueBranch({ keys, values }: ValueGroup): string {
  const patterns = keys.map((key) => (key.startsWith('* ') ? `*${quote(key.slice(1))}` : quote(key)));
  const words = wordsOf(values)
    .split('\n')
    .filter((word) => word !== '');
  return branch(patterns, `_molar_kind=${values.kind} _molar_words=(${words.map(quote).join(' ')})`);
}

function branch(patterns: readonly string[], action: string): string {
  return `    (${patterns.join('|')}) ${action} ;;`;
}

const ENGINE = `# Offers what the kind allows for the word at the cursor.
_molar_kinds() {
  case "$_molar_kind" in
    (words) compadd -a _molar_words ;;
    (filter) compadd -S '' -a _molar_words ;;
    (list) compset -P '*,'; compadd -S '' -a _molar_words ;;
    (sort) compset -P '*,'; compset -P '-'; compadd -S '' -a _molar_words ;;
    (profiles)
      _molar_words=(\${(f)"$(molar profiles list --format csv --no-header --fields name 2>/dev/null)"})
      compadd -a _molar_words
      ;;
    (sql) compset -P '*[^A-Za-z0-9_]'; compadd -S '' -a _molar_words ;;
    (queries)
      _molar_words=(\${(f)"$(molar autocomplete zsh --queries 2>/dev/null)"})
      compadd -a _molar_words
      ;;
    (locations|providers|operatories)
      compset -P '*,'
      _molar_words=(\${(f)"$(molar autocomplete zsh --names $_molar_kind 2>/dev/null)"})
      compadd -a _molar_words
      ;;
    (file) _files ;;
  esac
}

_molar() {
  local flag='' route='' word _molar_kind=''
  local -a _molar_words known
  integer at
  if [[ $PREFIX == --*=* ]]; then
    flag="\${PREFIX%%=*}"
    compset -P '*='
  elif ((CURRENT > 2)) && [[ \${words[CURRENT-1]} == -* ]]; then
    flag="\${words[CURRENT-1]}"
  fi
  for ((at = 2; at < CURRENT; at++)); do
    word="\${words[at]}"
    _molar_next "$route"
    known=("\${(@)_molar_words%%:*}")
    if [[ $word == -* ]] || ((! \${known[(Ie)$word]})); then break; fi
    route="\${route:+$route }$word"
  done
  if [[ -n $flag ]] && _molar_values "$route" "$flag"; then
    _molar_kinds
  elif [[ $PREFIX == -* ]]; then
    _molar_flags "$route"
    _describe -o flag _molar_words
  else
    # A command may have commands below it and take arguments too.
    _molar_next "$route"
    if (($#_molar_words)) && ((at == CURRENT)); then _describe command _molar_words; fi
    _molar_arguments "$route"
    _molar_kinds
  fi
}

if [[ \${funcstack[1]-} == _molar ]]; then
  _molar "$@"
else
  compdef _molar molar
fi
`;
