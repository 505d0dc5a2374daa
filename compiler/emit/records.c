/* Declarations to records: params, environment, tools, sources, rules, groups. */
#include "emit/emit.h"

static uint32_t text(bg_emit *e, bg_str str)
{
    return bg_image_str(e->w, str);
}

static uint32_t text0(bg_emit *e, bg_str str)
{
    return str.len == 0 ? 0 : text(e, str);
}

uint32_t bg_emit_tool(bg_emit *e, bg_tool *tool)
{
    if (tool->id == 0) {
        bg_img_tools rec = {.name = text(e, tool->name), .program = text(e, tool->program), .bin = text0(e, tool->bin)};
        rec.version = bg_image_words(e->w, tool->version.at, tool->version.n);
        rec.n_version = tool->version.n;
        rec.root = bg_image_words(e->w, tool->root.at, tool->root.n);
        rec.n_root = tool->root.n;
        rec.places = bg_image_words(e->w, tool->places.at, tool->places.n);
        rec.n_places = tool->places.n;
        rec.span = tool->declared ? bg_emit_span(e, tool->span) : 0;
        tool->id = bg_image_add(e->w, BG_SEC_TOOL, &rec);
    }
    return tool->id;
}

uint32_t bg_emit_source(bg_emit *e, bg_src *src)
{
    if (src->id == 0) {
        bg_img_sources rec = {.name = text(e, src->name), .dir = text(e, src->dir), .is_git = src->is_git};
        rec.paths = bg_image_words(e->w, src->paths.at, src->paths.n);
        rec.n_paths = src->paths.n;
        rec.span = bg_emit_span(e, src->span);
        src->id = bg_image_add(e->w, BG_SEC_SRCE, &rec);
    }
    return src->id;
}

uint32_t bg_emit_rule(bg_emit *e, bg_rule *rule)
{
    if (rule->id == 0) {
        bg_img_rules rec = {.name = text(e, rule->name), .pad = rule->pad, .elf = rule->elf, .text = rule->text};
        rec.links = rule->links;
        rec.longer = rule->longer;
        rec.survivors = rule->survivors;
        rec.exclude = bg_image_words(e->w, rule->exclude.at, rule->exclude.n);
        rec.n_exclude = rule->exclude.n;
        rec.span = bg_emit_span(e, rule->span);
        rule->id = bg_image_add(e->w, BG_SEC_RULE, &rec);
    }
    return rule->id;
}

uint32_t bg_emit_env(bg_emit *e, bg_env *env)
{
    if (env->id == 0) {
        bg_img_envs rec = {.name = text(e, env->bind->name)};
        rec.fallback = env->has_fallback ? text(e, env->fallback) : 0;
        rec.span = bg_emit_span(e, env->bind->span);
        env->id = bg_image_add(e->w, BG_SEC_ENVV, &rec);
    }
    return env->id;
}

static bg_param_type param_type(const bg_type *type)
{
    switch ((int)type->kind) {
    case BG_TYPE_INT:
        return BG_PARAM_INT;
    case BG_TYPE_BOOL:
        return BG_PARAM_BOOL;
    case BG_TYPE_DURATION:
        return BG_PARAM_DURATION;
    case BG_TYPE_SIZE:
        return BG_PARAM_SIZE;
    case BG_TYPE_ENUM:
        return BG_PARAM_ENUM;
    case BG_TYPE_LIST:
        return BG_PARAM_STR_LIST;
    default:
        return BG_PARAM_STR;
    }
}

/* The text of -D as it was given, else that of the default. */
static bg_str baked_text(bg_emit *e, bg_param *param)
{
    if (param->value != NULL)
        return param->given;
    return bg_param_text(e->s, bg_param_value(e->s, param, param->bind->span, "a param"));
}

static void emit_param(bg_emit *e, bg_param *param)
{
    bg_img_params rec = {.name = text(e, param->name), .type = (uint32_t)param_type(param->type)};
    rec.doc = text0(e, param->bind->ast->doc);
    rec.prog = bg_emit_prog(e, bg_param_preset(e->s, param));
    rec.choices = bg_image_words(e->w, param->type->choices, param->type->n_choices);
    rec.n_choices = param->type->n_choices;
    rec.is_baked = param->baked;
    if (param->baked)
        rec.baked = text(e, baked_text(e, param));
    rec.span = bg_emit_span(e, param->bind->span);
    param->id = bg_image_add(e->w, BG_SEC_PARM, &rec);
}

static void emit_group(bg_emit *e, bg_group *group)
{
    bg_img_groups rec = {.name = text(e, group->name), .label = text(e, group->label)};
    rec.parent = group->parent == NULL ? 0 : group->parent->id;
    rec.span = bg_emit_span(e, group->bind->span);
    group->id = bg_image_add(e->w, BG_SEC_GRUP, &rec);
}

static void emit_unit(bg_emit *e, const bg_unit *unit)
{
    bool is_root = unit == e->s->root;
    for (uint32_t i = 0; i < unit->params.n; i++)
        if (is_root || unit->params.at[i]->touched)
            emit_param(e, unit->params.at[i]);
    for (uint32_t i = 0; i < unit->groups.n; i++)
        if (is_root || unit->groups.at[i]->used)
            emit_group(e, unit->groups.at[i]);
    for (uint32_t i = 0; is_root && i < unit->envs.n; i++)
        bg_emit_env(e, unit->envs.at[i]);
    for (uint32_t i = 0; is_root && i < unit->scope->binds.n; i++) {
        const bg_bind *bind = unit->scope->binds.at[i];
        if (bind->val == NULL || bind->val->kind == BG_VAL_ERROR)
            continue;
        if (bind->kind == BG_BIND_TOOL)
            bg_emit_tool(e, bind->val->ref);
        else if (bind->kind == BG_BIND_SOURCE)
            bg_emit_source(e, bind->val->ref);
        else if (bind->kind == BG_BIND_RULE)
            bg_emit_rule(e, bind->val->ref);
    }
}

void bg_emit_declarations(bg_emit *e)
{
    for (uint32_t i = 0; i < e->n_sources; i++) {
        bg_img_files rec = {text(e, e->sources[i]->image_path), e->sources[i]->is_std != 0};
        bg_image_add(e->w, BG_SEC_FILE, &rec);
    }
    for (uint32_t i = 0; i < e->s->units.n; i++)
        emit_unit(e, e->s->units.at[i]);
}
