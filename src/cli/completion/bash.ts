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
  local word
  while IFS= read -r word; do
    if [[ -n $word && $word == "$2"* ]]; then
      if [[ -z $_molar_quote ]]; then printf -v word %q "$word"; fi
      COMPREPLY+=("$1$word")
    fi
  done <<<"$_molar_words"
}

_molar_nospace() {
  if type compopt >/dev/null 2>&1; then compopt -o nospace 2>/dev/null; fi
}

# Offers what the kind allows for the text in $2; $1 stands before it.
_molar_kinds() {
  local before="$1"
  case "$_molar_kind" in
    words) _molar_offer "$before" "$2" ;;
    filter)
      _molar_offer "$before" "$2"
      _molar_nospace
      ;;
    list)
      if [[ $2 == *,* ]]; then before+="\${2%,*},"; fi
      _molar_offer "$before" "\${2##*,}"
      _molar_nospace
      ;;
    sort)
      local key="\${2##*,}"
      if [[ $2 == *,* ]]; then before+="\${2%,*},"; fi
      if [[ $key == -* ]]; then before+=-; fi
      _molar_offer "$before" "\${key#-}"
      _molar_nospace
      ;;
    profiles)
      _molar_words="$(molar profiles list --format csv --no-header --fields name 2>/dev/null)"
      _molar_offer "$before" "$2"
      ;;
    sql)
      local name="\${2##*[!A-Za-z0-9_]}"
      _molar_offer "$before\${2%"$name"}" "$name"
      _molar_nospace
      ;;
    queries)
      _molar_words="$(molar autocomplete bash --queries 2>/dev/null)"
      _molar_offer "$before" "$2"
      ;;
    locations | providers | operatories)
      if [[ $2 == *,* ]]; then before+="\${2%,*},"; fi
      _molar_words="$(molar autocomplete bash --names "$_molar_kind" 2>/dev/null)"
      _molar_offer "$before" "\${2##*,}"
      ;;
    file)
      local path
      while IFS= read -r path; do COMPREPLY+=("$before$path"); done < <(compgen -f -- "$2")
      if type compopt >/dev/null 2>&1; then compopt -o filenames 2>/dev/null; fi
      ;;
  esac
}

# The words of the line: bash parts them at the signs of COMP_WORDBREAKS too, such as : and =.
_molar_split() {
  local at word typed rest="$COMP_LINE"
  _molar_line=()
  for ((at = 0; at <= COMP_CWORD; at++)); do
    word="\${COMP_WORDS[at]}"
    typed="\${rest#"\${rest%%[![:space:]]*}"}"
    if ((at > 0)) && [[ $typed == "$rest" ]]; then
      _molar_line[\${#_molar_line[@]}-1]+="$word"
    else
      _molar_line+=("$word")
    fi
    rest="\${typed#"$word"}"
  done
}

_molar() {
  local flag='' path='' before='' current head at word last
  local _molar_words='' _molar_kind='' _molar_quote=''
  local -a _molar_line
  COMPREPLY=()
  _molar_split
  last=$((\${#_molar_line[@]} - 1))
  current="\${_molar_line[last]}"
  # Readline replaces what follows the last of these signs, so that what stands before is taken off below.
  head=''
  for word in : =; do
    if [[ $COMP_WORDBREAKS == *"$word"* && $current == *"$word"* ]]; then
      word="\${current%"\${current##*"$word"}"}"
      if ((\${#word} > \${#head})); then head="$word"; fi
    fi
  done
  if [[ $current == [\\'\\"]* ]]; then
    _molar_quote="\${current:0:1}" current="\${current:1}" head=''
  fi
  if [[ $current == --*=* ]]; then
    flag="\${current%%=*}" before="\${current%%=*}=" current="\${current#*=}"
  elif ((last > 1)) && [[ \${_molar_line[last-1]} == -* ]]; then
    flag="\${_molar_line[last-1]}"
  fi
  for ((at = 1; at < last; at++)); do
    word="\${_molar_line[at]}"
    _molar_next "$path"
    if [[ $word == -* || $'\\n'$_molar_words$'\\n' != *$'\\n'"$word"$'\\n'* ]]; then break; fi
    path="\${path:+$path }$word"
  done
  if [[ -n $flag ]] && _molar_values "$path" "$flag"; then
    _molar_kinds "$before" "$current"
  elif [[ -z $before && $current == -* ]]; then
    _molar_flags "$path"
    _molar_offer '' "$current"
  elif [[ -z $before ]]; then
    # A command may have commands below it and take arguments too.
    _molar_next "$path"
    if ((at == last)); then _molar_offer '' "$current"; fi
    _molar_arguments "$path"
    _molar_kinds '' "$current"
  fi
  for ((at = 0; at < \${#COMPREPLY[@]}; at++)); do COMPREPLY[at]="\${COMPREPLY[at]#"$head"}"; done
}

complete -F _molar molar
`;
