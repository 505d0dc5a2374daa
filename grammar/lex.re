/* Bytes -> (token, length). Three pure scanners, one a mode of the lexer; compiler/syntax/lexer.c owns the modes and gives the
 * diagnostics. `limit` points at a NUL byte that is not part of the text. */
#include "syntax/lex.h"

/*!re2c
    re2c:define:YYCTYPE = "unsigned char";
    re2c:define:YYCURSOR = cursor;
    re2c:define:YYLIMIT = limit;
    re2c:define:YYMARKER = marker;
    re2c:yyfill:enable = 0;
    re2c:eof = 0;

    digit = [0-9];
    letter = [A-Za-z_];
    word = [A-Za-z0-9_];
    name = letter word* ("-" [A-Za-z0-9] word*)*;
    escape = "\\u{" [^{}"\n\\]* "}" | "\\" [^\n];
*/

#define FOUND(token)                                                                               \
    do {                                                                                           \
        *len = (size_t)(cursor - start);                                                           \
        return (token);                                                                            \
    } while (0)

int bg_lex_code(const unsigned char *start, const unsigned char *limit, size_t *len)
{
    const unsigned char *cursor = start, *marker = start;
    /*!re2c
    *           { FOUND(BG_LEX_BAD); }
    $           { FOUND(BG_LEX_END); }
    [\x80-\xff]+ { FOUND(BG_LEX_BAD); }
    [ \t\r]+    { FOUND(BG_LEX_SPACE); }
    "\n" [ \t\r\n]* { FOUND(BG_LEX_NEWLINE); }
    "##" [^#\n] [^\n]* | "##" { FOUND(BG_LEX_DOC); }
    "#" [^\n]*  { FOUND(BG_LEX_COMMENT); }
    ";"         { FOUND(BG_LEX_SEMICOLON); }
    "&&"        { FOUND(BG_LEX_AND_AND); }
    "||"        { FOUND(BG_LEX_OR_OR); }
    "!"         { FOUND(BG_LEX_BANG); }
    "'" [^'\n]* "'" { FOUND(BG_LEX_SINGLE_QUOTED); }

    "if"        { FOUND(BG_T_IF); }
    "then"      { FOUND(BG_T_THEN); }
    "else"      { FOUND(BG_T_ELSE); }
    "for"       { FOUND(BG_T_FOR); }
    "in"        { FOUND(BG_T_IN); }
    "not"       { FOUND(BG_T_NOT); }
    "and"       { FOUND(BG_T_AND); }
    "or"        { FOUND(BG_T_OR); }
    "true"      { FOUND(BG_T_TRUE); }
    "false"     { FOUND(BG_T_FALSE); }
    "use"       { FOUND(BG_T_USE); }
    "as"        { FOUND(BG_T_AS); }
    "let"       { FOUND(BG_T_LET); }
    "param"     { FOUND(BG_T_PARAM); }
    "env"       { FOUND(BG_T_ENV); }
    "tool"      { FOUND(BG_T_TOOL); }
    "source"    { FOUND(BG_T_SOURCE); }
    "template"  { FOUND(BG_T_TEMPLATE); }
    "group"     { FOUND(BG_T_GROUP); }
    "stage"     { FOUND(BG_T_STAGE); }
    "crate"     { FOUND(BG_T_CRATE); }
    "relocate"  { FOUND(BG_T_RELOCATE); }
    "default"   { FOUND(BG_T_DEFAULT); }
    "run"       { FOUND(BG_T_RUN); }
    "out"       { FOUND(BG_T_OUT); }
    "early"     { FOUND(BG_T_EARLY); }
    "when"      { FOUND(BG_T_WHEN); }
    "work"      { FOUND(BG_T_WORK); }
    "provide"   { FOUND(BG_T_PROVIDE); }
    "allow"     { FOUND(BG_T_ALLOW); }
    "override"  { FOUND(BG_T_OVERRIDE); }
    name        { FOUND(BG_T_NAME); }

    digit+      { FOUND(BG_T_INT); }
    digit+ letter word* { FOUND(BG_T_UNIT); }
    digit+ "." digit+ word* { FOUND(BG_LEX_FRACTION); }
    ["]         { FOUND(BG_T_STR_BEGIN); }
    ["]{3}      { FOUND(BG_LEX_BLOCK_BEGIN); }
    "r" ["] [^"\n]* ["] { FOUND(BG_T_RAW); }
    "r" ["] [^"\n]* { FOUND(BG_LEX_RAW_OPEN); }

    "{"         { FOUND(BG_T_LBRACE); }
    "}"         { FOUND(BG_T_RBRACE); }
    "["         { FOUND(BG_T_LBRACK); }
    "]"         { FOUND(BG_T_RBRACK); }
    "("         { FOUND(BG_T_LPAREN); }
    ")"         { FOUND(BG_T_RPAREN); }
    ","         { FOUND(BG_T_COMMA); }
    ":"         { FOUND(BG_T_COLON); }
    "="         { FOUND(BG_T_EQ); }
    "."         { FOUND(BG_T_DOT); }
    ".."        { FOUND(BG_T_DOTDOT); }
    "=="        { FOUND(BG_T_EQEQ); }
    "!="        { FOUND(BG_T_NE); }
    "<"         { FOUND(BG_T_LT); }
    "<="        { FOUND(BG_T_LE); }
    ">"         { FOUND(BG_T_GT); }
    ">="        { FOUND(BG_T_GE); }
    "+"         { FOUND(BG_T_PLUS); }
    "-"         { FOUND(BG_T_MINUS); }
    "*"         { FOUND(BG_T_STAR); }
    "/"         { FOUND(BG_T_SLASH); }
    */
}

int bg_lex_string(const unsigned char *start, const unsigned char *limit, size_t *len)
{
    const unsigned char *cursor = start, *marker = start;
    /*!re2c
    *           { FOUND(BG_T_STR_TEXT); }
    $           { FOUND(BG_LEX_END); }
    ([^"\\{}\n] | escape | "{{" | "}}")+ { FOUND(BG_T_STR_TEXT); }
    ["]         { FOUND(BG_T_STR_END); }
    "{"         { FOUND(BG_T_INTERP_BEGIN); }
    "}"         { FOUND(BG_LEX_LONE_BRACE); }
    "\n"        { FOUND(BG_LEX_NEWLINE); }
    */
}

int bg_lex_block(const unsigned char *start, const unsigned char *limit, size_t *len)
{
    const unsigned char *cursor = start, *marker = start;
    /*!re2c
    *           { FOUND(BG_T_STR_TEXT); }
    $           { FOUND(BG_LEX_END); }
    ([^"\\{}] | escape | "{{" | "}}")+ { FOUND(BG_T_STR_TEXT); }
    ["]         { FOUND(BG_T_STR_TEXT); }
    ["]{3}      { FOUND(BG_T_STR_END); }
    "{"         { FOUND(BG_T_INTERP_BEGIN); }
    "}"         { FOUND(BG_LEX_LONE_BRACE); }
    */
}
