import type { Completion, ValueGroup } from './model.ts';
import type { Values } from './values.ts';

/** The completion script for bash, 3.2 and newer. */
export function bashScript({ next, flags, flagValues, arguments: args }: Completion): string {
  return `# bash completion for molar. In ~/.bashrc: source <(molar autocomplete bash)

# Words that may follow the command words in $1, one a line.
_molar_next() {
  case "$1" in
${next.map(({ path, words }) => branch([quote(path)], assign('_molar_words', lines(words)))).join('\n')}
    *) _molar_words='' ;;
  esac
}

# Flags of the command in $1.
_molar_flags() {
  _molar_words=''
${flags
  .map(
    (group) => `  case "$1" in
${branch(group.paths.map(quote), `_molar_words+=${quote(`${lines(group.flags)}\n`)}`)}
  esac`,
  )
  .join('\n')}
}

# What is typed after the flag $2 of the command $1: its kind and words. Fails for a flag without a value.
_molar_values() {
  case "$1 $2" in
${flagValues.map(valueBranch).join('\n')}
    *) return 1 ;;
  esac
}

# What the command $1 takes as arguments.
_molar_arguments() {
  case "$1" in
${args.map(valueBranch).join('\n')}
    *) _molar_kind=any _molar_words='' ;;
  esac
}

${ENGINE}`;
}

function lines(candidates: readonly { readonly word: string }[]): string {
  return candidates.map(({ word }) => word).join('\n');
}

function valueBranch({ keys, values }: ValueGroup): string {
  const patterns = keys.map((key) => (key.startsWith('* ') ? `*${quote(key.slice(1))}` : quote(key)));
  return branch(patterns, `_molar_kind=${values.kind} ${assign('_molar_words', wordsOf(values))}`);
}

/** The listed words, one a line. */
export function wordsOf(values: Values): string {
  return 'words' in values ? values.words.join('\n') : '';
}

function branch(patterns: readonly string[], action: string): string {
  return `    ${patterns.join('|')}) ${action} ;;`;
}

function assign(name: string, text: string): string {
  return `${name}=${quote(text)}`;
}

/** Text as one word of a POSIX shell. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

const ENGINE = `# Offers the words that begin with $2, each after $1.
_molar_offer() {
  local word quoted
  while IFS= read -r word; do
    if [[ -n $word && $word == "$2"* ]]; then
      printf -v quoted %q "$word"
      COMPREPLY+=("$1$quoted")
    fi
  done <<<"$_molar_words"
}

_molar_nospace() {
  if type compopt >/dev/null 2>&1; then compopt -o nospace 2>/dev/null; fi
}

# Offers what the kind allows for the text in $1.
_molar_kinds() {
  local before=''
  case "$_molar_kind" in
    words) _molar_offer '' "$1" ;;
    list)
      if [[ $1 == *,* ]]; then before="\${1%,*},"; fi
      _molar_offer "$before" "\${1##*,}"
      _molar_nospace
      ;;
    sort)
      if [[ $1 == -* ]]; then before=-; fi
      _molar_offer "$before" "\${1#-}"
      ;;
    profiles)
      _molar_words="$(molar profiles list --format csv --no-header --fields name 2>/dev/null)"
      _molar_offer '' "$1"
      ;;
    file)
      local path
      while IFS= read -r path; do COMPREPLY+=("$path"); done < <(compgen -f -- "$1")
      if type compopt >/dev/null 2>&1; then compopt -o filenames 2>/dev/null; fi
      ;;
  esac
}

_molar() {
  local current="\${COMP_WORDS[COMP_CWORD]}" flag='' path='' at word
  local _molar_words='' _molar_kind=''
  COMPREPLY=()
  # Bash splits --flag=value at the sign.
  if [[ $current == = ]]; then
    flag="\${COMP_WORDS[COMP_CWORD-1]}" current=''
  elif ((COMP_CWORD > 2)) && [[ \${COMP_WORDS[COMP_CWORD-1]} == = ]]; then
    flag="\${COMP_WORDS[COMP_CWORD-2]}"
  elif ((COMP_CWORD > 1)) && [[ \${COMP_WORDS[COMP_CWORD-1]} == -* ]]; then
    flag="\${COMP_WORDS[COMP_CWORD-1]}"
  fi
  for ((at = 1; at < COMP_CWORD; at++)); do
    word="\${COMP_WORDS[at]}"
    _molar_next "$path"
    if [[ $word == -* || $'\\n'$_molar_words$'\\n' != *$'\\n'"$word"$'\\n'* ]]; then break; fi
    path="\${path:+$path }$word"
  done
  if [[ -n $flag ]] && _molar_values "$path" "$flag"; then
    _molar_kinds "$current"
  elif [[ $current == -* ]]; then
    _molar_flags "$path"
    _molar_offer '' "$current"
  else
    _molar_next "$path"
    if [[ -n $_molar_words ]] && ((at == COMP_CWORD)); then
      _molar_offer '' "$current"
    else
      _molar_arguments "$path"
      _molar_kinds "$current"
    fi
  fi
}

complete -F _molar molar
`;
