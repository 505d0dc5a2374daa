/* The grammar of edition 1. Every action is one call of syntax/build.h. There are no separators between items: a word that starts an
 * item ends the one before; in every other place %fallback makes it an ordinary name.
 * Recovery: an item with a mistake becomes `error`, ended by SYNC, which syntax/parse.c gives where the next item starts; one
 * whose head is broken but whose block can still be read is ended by SYNC_BLOCK. */
%name bg_lemon_
%token_prefix BG_T_
%token_type {bg_token}
%default_type {bg_ast *}
%extra_argument {bg_builder *b}
%stack_size 4000
%start_symbol file

%include {
#include <assert.h>
#include <stdlib.h>
#include "syntax/build.h"
struct yyParser;
static void report(struct yyParser *parser, int major, bg_builder *b, bg_token token);
}
%syntax_error { report(yypParser, yymajor, b, TOKEN); }
%stack_overflow { bg_build_too_deep(b, b->at); }

/* In the order of tokens.def: the numbers are the same. */
%token NAME NAME INT UNIT RAW STR_BEGIN STR_TEXT STR_END INTERP_BEGIN INTERP_END IF THEN ELSE FOR IN
    NOT AND OR TRUE FALSE USE AS LET PARAM ENV TOOL SOURCE TEMPLATE GROUP STAGE CRATE RELOCATE
    DEFAULT RUN OUT EARLY WHEN WORK PROVIDE ALLOW OVERRIDE LBRACE RBRACE LBRACK RBRACK LPAREN RPAREN
    COMMA COLON EQ DOT DOTDOT EQEQ NE LT LE GT GE PLUS MINUS STAR SLASH SYNC SYNC_BLOCK.

%fallback NAME USE AS LET PARAM ENV TOOL SOURCE TEMPLATE GROUP STAGE CRATE RELOCATE DEFAULT RUN OUT EARLY WHEN WORK PROVIDE
    ALLOW OVERRIDE.

%nonassoc LIST_END.
%left COMMA.
%right ELSE.
%left OR.
%left AND.
%right NOT.
%nonassoc EQEQ NE LT LE GT GE.
%left PLUS MINUS.
%left STAR SLASH.
%right NEG.

%type items {bg_ast_list *}
%type env_items {bg_ast_list *}
%type uses {bg_ast_list *}
%type exprs {bg_ast_list *}
%type params {bg_ast_list *}
%type param_list {bg_ast_list *}
%type type_args {bg_ast_list *}
%type calls {bg_ast_list *}
%type elements {bg_ast_list *}
%type clauses {bg_ast_list *}
%type pairs {bg_ast_list *}
%type args {bg_ast_list *}
%type parts {bg_ast_list *}
%type dotted {bg_token}
%type key {bg_token}
%type early {bg_token}

file ::= file_items.
file_items ::= .
file_items ::= file_items item(I).             { bg_build_file_add(b, I); }
file_items ::= file_items COMMA(T).            { bg_build_stray(b, T); }
file_items ::= file_items error SYNC(T).       { bg_build_file_add(b, bg_build_error(b, T, NULL)); }
file_items ::= file_items error SYNC_BLOCK(T) block(B). { bg_build_file_add(b, bg_build_error(b, T, B)); }

block(A) ::= LBRACE(L) items(I) RBRACE(R).     { A = bg_build_list(b, BG_AST_BODY, L, I, R); }
items(A) ::= .                                 { A = bg_build_no_items(b); }
items(A) ::= items(L) item(I).                 { A = bg_build_append(b, L, I); }
items(A) ::= items(L) COMMA(T).                { A = L; bg_build_stray(b, T); }
items(A) ::= items(L) error SYNC(T).           { A = bg_build_append(b, L, bg_build_error(b, T, NULL)); }
items(A) ::= items(L) error SYNC_BLOCK(T) block(B). { A = bg_build_append(b, L, bg_build_error(b, T, B)); }

/* Declarations. */
item(A) ::= USE(T) uses(L). [LIST_END]         { A = bg_build_uses(b, T, L); }
item(A) ::= LET(T) NAME(N) EQ expr(E).         { A = bg_build_decl(b, BG_AST_LET, T, N, E, NULL, NULL); }
item(A) ::= PARAM(T) NAME(N) COLON type(Y).    { A = bg_build_decl(b, BG_AST_PARAM, T, N, Y, NULL, NULL); }
item(A) ::= PARAM(T) NAME(N) COLON type(Y) EQ expr(E). { A = bg_build_decl(b, BG_AST_PARAM, T, N, Y, E, NULL); }
item(A) ::= ENV(T) NAME(N) COLON type(Y).      { A = bg_build_decl(b, BG_AST_ENV, T, N, Y, NULL, NULL); }
item(A) ::= ENV(T) NAME(N) COLON type(Y) EQ expr(E). { A = bg_build_decl(b, BG_AST_ENV, T, N, Y, E, NULL); }
item(A) ::= TOOL(T) NAME(N) block(B).          { A = bg_build_settings(b, BG_AST_TOOL, T, N, B); }
item(A) ::= SOURCE(T) NAME(N) block(B).        { A = bg_build_settings(b, BG_AST_SOURCE, T, N, B); }
item(A) ::= RELOCATE(T) NAME(N) block(B).      { A = bg_build_settings(b, BG_AST_RELOCATE, T, N, B); }
item(A) ::= DEFAULT(T) exprs(L). [LIST_END]    { A = bg_build_default(b, T, L); }
item(A) ::= TEMPLATE(T) NAME(N) parameters(P) block(B). { A = bg_build_decl(b, BG_AST_TEMPLATE, T, N, P, B, NULL); }
item(A) ::= GROUP(T) NAME(N) label(S) block(B). { A = bg_build_decl(b, BG_AST_GROUP, T, N, S, B, NULL); }
item(A) ::= CRATE(T) NAME(N) label(S) block(B). { A = bg_build_decl(b, BG_AST_CRATE, T, N, S, B, NULL); }
item(A) ::= STAGE(T) NAME(N) label(S) templates(C) stage_body(B). { A = bg_build_decl(b, BG_AST_STAGE, T, N, S, C, B); }

uses(A) ::= use(U).                            { A = bg_build_append(b, NULL, U); }
uses(A) ::= uses(L) COMMA use(U).              { A = bg_build_append(b, L, U); }
use(A) ::= dotted(M).                          { A = bg_build_use(b, M, NULL, (bg_token){0}); }
use(A) ::= dotted(M) AS NAME(N).               { A = bg_build_use(b, M, NULL, N); }
use(A) ::= string(S).                          { A = bg_build_use(b, (bg_token){0}, S, (bg_token){0}); }
use(A) ::= string(S) AS NAME(N).               { A = bg_build_use(b, (bg_token){0}, S, N); }
dotted(A) ::= NAME(N).                         { A = N; }
dotted(A) ::= dotted(D) DOT NAME(N).           { A = bg_token_join(D, N); }

label(A) ::= .                                 { A = NULL; }
label(A) ::= string(S).                        { A = S; }
stage_body(A) ::= .                            { A = NULL; }
stage_body(A) ::= block(B).                    { A = B; }
templates(A) ::= .                             { A = NULL; }
templates(A) ::= COLON(T) calls(L).            { A = bg_build_list(b, BG_AST_TEMPLATES, T, L, T); }
calls(A) ::= call(C).                          { A = bg_build_append(b, NULL, C); }
calls(A) ::= calls(L) PLUS call(C).            { A = bg_build_append(b, L, C); }
call(A) ::= callee(F) LPAREN args(L) RPAREN(R). { A = bg_build_call(b, F, L, R); }
call(A) ::= callee(F) LPAREN args(L) COMMA RPAREN(R). { A = bg_build_call(b, F, L, R); }
call(A) ::= callee(F) LPAREN RPAREN(R).        { A = bg_build_call(b, F, NULL, R); }
callee(A) ::= NAME(N).                         { A = bg_build_name(b, N); }
callee(A) ::= callee(F) DOT NAME(N).           { A = bg_build_field(b, F, N); }

parameters(A) ::= LPAREN(L) RPAREN(R).         { A = bg_build_list(b, BG_AST_PARAMS, L, NULL, R); }
parameters(A) ::= LPAREN(L) params(P) RPAREN(R). { A = bg_build_list(b, BG_AST_PARAMS, L, P, R); }
params(A) ::= param_list(L).                   { A = L; }
params(A) ::= param_list(L) COMMA.             { A = L; }
param_list(A) ::= parameter(P).                { A = bg_build_append(b, NULL, P); }
param_list(A) ::= param_list(L) COMMA parameter(P). { A = bg_build_append(b, L, P); }
parameter(A) ::= NAME(N) COLON type(Y).        { A = bg_build_decl(b, BG_AST_PARAMETER, N, N, Y, NULL, NULL); }
parameter(A) ::= NAME(N) COLON type(Y) EQ expr(E). { A = bg_build_decl(b, BG_AST_PARAMETER, N, N, Y, E, NULL); }

type(A) ::= NAME(N).                           { A = bg_build_type(b, N, NULL, N); }
type(A) ::= NAME(N) LBRACK type_args(L) RBRACK(R). { A = bg_build_type(b, N, L, R); }
type(A) ::= NAME(N) LBRACK type_args(L) COMMA RBRACK(R). { A = bg_build_type(b, N, L, R); }
type_args(A) ::= type_arg(T).                  { A = bg_build_append(b, NULL, T); }
type_args(A) ::= type_args(L) COMMA type_arg(T). { A = bg_build_append(b, L, T); }
type_arg(A) ::= type(T).                       { A = T; }
type_arg(A) ::= string(S).                     { A = S; }

/* Items of stages and templates. */
key(A) ::= NAME(N).                            { A = N; }
key(A) ::= IN(N).                              { A = N; }
item(A) ::= key(K) EQ expr(E).                 { A = bg_build_set(b, K, K, E, 0); }
item(A) ::= OVERRIDE(T) key(K) EQ expr(E).     { A = bg_build_set(b, T, K, E, BG_AST_OVERRIDE); }
item(A) ::= RUN(T) EQ expr(E).                 { A = bg_build_run(b, T, T, E, 0); }
item(A) ::= OVERRIDE(T) RUN(R) EQ expr(E).     { A = bg_build_run(b, T, R, E, BG_AST_OVERRIDE); }
item(A) ::= RUN(T) block(B).                   { A = bg_build_run_block(b, T, T, B, 0); }
item(A) ::= OVERRIDE(T) RUN(R) block(B).       { A = bg_build_run_block(b, T, R, B, BG_AST_OVERRIDE); }
item(A) ::= ENV(T) LBRACE env_items(L) RBRACE(R). { A = bg_build_env_block(b, T, L, R); }
env_items(A) ::= .                             { A = bg_build_no_items(b); }
env_items(A) ::= env_items(L) key(K) EQ expr(E). { A = bg_build_append(b, L, bg_build_set(b, K, K, E, 0)); }
env_items(A) ::= env_items(L) COMMA.           { A = L; }
env_items(A) ::= env_items(L) error SYNC(T).   { A = bg_build_append(b, L, bg_build_error(b, T, NULL)); }
env_items(A) ::= env_items(L) error SYNC_BLOCK(T) block(B). { A = bg_build_append(b, L, bg_build_error(b, T, B)); }
item(A) ::= OUT(T) early(Y) NAME(N) COLON type(K) out_path(P) out_when(W). { A = bg_build_out(b, T, Y, N, K, P, W); }
early(A) ::= .                                 { A = (bg_token){0}; }
early(A) ::= EARLY(T).                         { A = T; }
out_path(A) ::= .                              { A = NULL; }
out_path(A) ::= EQ expr(E).                    { A = E; }
out_when(A) ::= .                              { A = NULL; }
out_when(A) ::= WHEN expr(E).                  { A = E; }
item(A) ::= WORK(T) NAME(N).                   { A = bg_build_decl(b, BG_AST_WORK, T, N, NULL, NULL, NULL); }
item(A) ::= PROVIDE(T) NAME(N) EQ expr(E).     { A = bg_build_decl(b, BG_AST_PROVIDE, T, N, E, NULL, NULL); }
item(A) ::= ALLOW(T) LPAREN NAME(N) COMMA string(S) RPAREN(R). { A = bg_build_allow(b, T, N, NULL, S, R); }
item(A) ::= ALLOW(T) LPAREN string(C) COMMA string(S) RPAREN(R). { A = bg_build_allow(b, T, T, C, S, R); }

/* Expressions. */
exprs(A) ::= expr(E).                          { A = bg_build_append(b, NULL, E); }
exprs(A) ::= exprs(L) COMMA expr(E).           { A = bg_build_append(b, L, E); }
expr(A) ::= IF(T) expr(C) THEN expr(X) ELSE expr(Y). { A = bg_build_cond(b, T, C, X, Y); }
expr(A) ::= expr(X) OR(T) expr(Y).             { A = bg_build_binary(b, X, T, Y); }
expr(A) ::= expr(X) AND(T) expr(Y).            { A = bg_build_binary(b, X, T, Y); }
expr(A) ::= NOT(T) expr(X).                    { A = bg_build_unary(b, T, X); }
expr(A) ::= expr(X) EQEQ|NE|LT|LE|GT|GE(T) expr(Y). { A = bg_build_binary(b, X, T, Y); }
expr(A) ::= expr(X) PLUS|MINUS(T) expr(Y).     { A = bg_build_binary(b, X, T, Y); }
expr(A) ::= expr(X) STAR|SLASH(T) expr(Y).     { A = bg_build_binary(b, X, T, Y); }
expr(A) ::= MINUS(T) expr(X). [NEG]            { A = bg_build_unary(b, T, X); }
expr(A) ::= postfix(E).                        { A = E; }
postfix(A) ::= primary(E).                     { A = E; }
postfix(A) ::= postfix(X) DOT NAME(N).         { A = bg_build_field(b, X, N); }
postfix(A) ::= postfix(X) LBRACK expr(I) RBRACK(R). { A = bg_build_index(b, X, I, R); }
postfix(A) ::= postfix(F) LPAREN RPAREN(R).    { A = bg_build_call(b, F, NULL, R); }
postfix(A) ::= postfix(F) LPAREN args(L) RPAREN(R). { A = bg_build_call(b, F, L, R); }
postfix(A) ::= postfix(F) LPAREN args(L) COMMA RPAREN(R). { A = bg_build_call(b, F, L, R); }
args(A) ::= arg(E).                            { A = bg_build_append(b, NULL, E); }
args(A) ::= args(L) COMMA arg(E).              { A = bg_build_append(b, L, E); }
arg(A) ::= expr(E).                            { A = E; }
arg(A) ::= key(K) EQ expr(E).                  { A = bg_build_decl(b, BG_AST_ARG, K, K, E, NULL, NULL); }
primary(A) ::= NAME(N).                        { A = bg_build_name(b, N); }
primary(A) ::= INT(T).                         { A = bg_build_int(b, T); }
primary(A) ::= UNIT(T).                        { A = bg_build_unit(b, T); }
primary(A) ::= TRUE(T).                        { A = bg_build_bool(b, T, 1); }
primary(A) ::= FALSE(T).                       { A = bg_build_bool(b, T, 0); }
primary(A) ::= string(S).                      { A = S; }
primary(A) ::= LPAREN(L) expr(E) RPAREN(R).    { A = bg_build_parens(b, L, E, R); }

primary(A) ::= LBRACK(L) RBRACK(R).            { A = bg_build_list(b, BG_AST_LIST, L, NULL, R); }
primary(A) ::= LBRACK(L) elements(I) RBRACK(R). { A = bg_build_list(b, BG_AST_LIST, L, I, R); }
primary(A) ::= LBRACK(L) elements(I) COMMA RBRACK(R). { A = bg_build_list(b, BG_AST_LIST, L, I, R); }
primary(A) ::= LBRACK(L) element(E) for(F) clauses(C) RBRACK(R). { A = bg_build_comp(b, L, E, F, C, R); }
elements(A) ::= list_item(I).                  { A = bg_build_append(b, NULL, I); }
elements(A) ::= elements(L) COMMA list_item(I). { A = bg_build_append(b, L, I); }
list_item(A) ::= element(E).                   { A = E; }
list_item(A) ::= element(E) IF expr(C).        { A = bg_build_item_if(b, E, C); }
element(A) ::= expr(E).                        { A = E; }
element(A) ::= DOTDOT(T) expr(E).              { A = bg_build_splice(b, T, E); }
clauses(A) ::= .                               { A = NULL; }
clauses(A) ::= clauses(L) for(F).              { A = bg_build_append(b, L, F); }
clauses(A) ::= clauses(L) IF(T) expr(E).       { A = bg_build_append(b, L, bg_build_if_clause(b, T, E)); }
for(A) ::= FOR(T) NAME(N) IN expr(E).          { A = bg_build_decl(b, BG_AST_FOR, T, N, E, NULL, NULL); }

primary(A) ::= LBRACE(L) RBRACE(R).            { A = bg_build_list(b, BG_AST_MAP, L, NULL, R); }
primary(A) ::= LBRACE(L) pairs(P) RBRACE(R).   { A = bg_build_list(b, BG_AST_MAP, L, P, R); }
primary(A) ::= LBRACE(L) pairs(P) COMMA RBRACE(R). { A = bg_build_list(b, BG_AST_MAP, L, P, R); }
pairs(A) ::= pair(P).                          { A = bg_build_append(b, NULL, P); }
pairs(A) ::= pairs(L) COMMA pair(P).           { A = bg_build_append(b, L, P); }
pair(A) ::= key(K) COLON expr(E).              { A = bg_build_set(b, K, K, E, 0); }
pair(A) ::= string(S) COLON expr(E).           { A = bg_build_pair(b, S, E); }

string(A) ::= RAW(T).                          { A = bg_build_raw(b, T); }
string(A) ::= STR_BEGIN(L) parts(P) STR_END(R). { A = bg_build_string(b, L, P, R); }
parts(A) ::= .                                 { A = NULL; }
parts(A) ::= parts(L) STR_TEXT(T).             { A = bg_build_append(b, L, bg_build_text(b, T)); }
parts(A) ::= parts(L) INTERP_BEGIN(T) expr(E) INTERP_END(R). { A = bg_build_append(b, L, bg_build_interp(b, T, E, R, R)); }
parts(A) ::= parts(L) INTERP_BEGIN(T) expr(E) COLON NAME(N) INTERP_END(R). { A = bg_build_append(b, L, bg_build_interp(b, T, E, N, R)); }

%code {
/* The macros here are lemon's numbers, the rows those of tokens.def. */
#define BG_TOKEN(name, spelling, cls, doc)                                                         \
    _Static_assert((int)BG_T_##name == (int)BG_TOKEN_ROW_##name, "tokens.def and %token: one order");
#include "tokens.def"
#undef BG_TOKEN

/* What the tables say for a token, without its fallback. */
static YYACTIONTYPE look_up(YYACTIONTYPE state, int token)
{
    int i;
    if (state > YY_MAX_SHIFT)
        return state;
    i = yy_shift_ofst[state] + token;
    if (i >= 0 && i < (int)(sizeof yy_lookahead / sizeof yy_lookahead[0]) && yy_lookahead[i] == token)
        return yy_action[i];
    return yy_default[state];
}

/* Would the parser, after the reductions it calls for, shift the token? */
static int accepts(const yyParser *parser, int token)
{
    YYACTIONTYPE states[YYSTACKDEPTH + 1];
    int n = (int)(parser->yytos - parser->yystack), i;
    for (i = 0; i <= n; i++)
        states[i] = parser->yystack[i].stateno;
    for (;;) {
        YYACTIONTYPE action = look_up(states[n], token);
        if (action <= YY_MAX_SHIFTREDUCE || action == YY_ACCEPT_ACTION)
            return 1;
        if (action < YY_MIN_REDUCE)
            return 0;
        action = (YYACTIONTYPE)(action - YY_MIN_REDUCE);
        n += yyRuleInfoNRhs[action];
        states[n + 1] = yy_find_reduce_action(states[n], yyRuleInfoLhs[action]);
        if (++n >= YYSTACKDEPTH)
            return 0;
    }
}

static void report(struct yyParser *parser, int major, bg_builder *b, bg_token token)
{
    bool expected[BG_TOKEN_COUNT] = {0};
    int i;
    (void)major;
    if (bg_build_wants_report(b, token))
        for (i = 1; i < BG_TOKEN_COUNT; i++)
            expected[i] = accepts(parser, i) != 0;
    bg_build_syntax_error(b, token, expected);
}

/* The next mistake is a new one. */
void bg_lemon_recovered(void *parser)
{
    ((yyParser *)parser)->yyerrcnt = -1;
}
}
