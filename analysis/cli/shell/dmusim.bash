# Bash completion of dmusim: commands, options and built-in scenarios, asked of the program itself.
_dmusim()
{
    local program=${COMP_WORDS[0]} command=${COMP_WORDS[1]} current=${COMP_WORDS[COMP_CWORD]}
    local previous=${COMP_WORDS[COMP_CWORD - 1]} words=""
    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        words="$("$program" --help 2> /dev/null | sed -n 's/^  \([a-z]\{2,\}\)  .*/\1/p') --help --version"
        COMPREPLY=($(compgen -W "$words" -- "$current"))
        return
    fi
    case $previous in
    --as) words=$("$program" export --help 2> /dev/null | sed -n 's/^  \([a-z][a-z-]*\)  .*/\1/p') ;;
    --progress | --color) words="auto always never" ;;
    -o | --output) COMPREPLY=($(compgen -f -- "$current")); return ;;
    esac
    if [[ -z $words ]]; then
        if [[ $current == -* ]]; then
            words=$("$program" "$command" --help 2> /dev/null | grep -o -- '--[a-z][a-z-]*' | sort -u)
        else
            case $command in
            run | sweep | validate | whatif) words=$("$program" list scenarios 2> /dev/null | grep '^[a-z]') ;;
            list) words="scenarios variants eras machines ops metrics costs schema" ;;
            import) ((COMP_CWORD == 2)) && words="mdtest fio filebench" ;;
            help) words=$("$program" --help 2> /dev/null | sed -n 's/^  \([a-z]\{2,\}\)  .*/\1/p') ;;
            esac
            [[ $command == list || $command == help ]] || COMPREPLY=($(compgen -f -- "$current"))
        fi
    fi
    COMPREPLY+=($(compgen -W "$words" -- "$current"))
}
complete -o filenames -F _dmusim dmusim
